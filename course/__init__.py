"""course: the scenery of the notebooks, built on memlib."""
