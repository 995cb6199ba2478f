"""What a reader sees: tables, pictures, feedback, widgets."""
