"""Data of the course: its files, Maya, the conversations, recorded vectors."""
