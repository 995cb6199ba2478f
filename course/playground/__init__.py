"""The playground: two rankings of one's own memories, side by side."""
