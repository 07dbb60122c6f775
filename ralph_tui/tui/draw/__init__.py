"""Drawing without widgets: spans, lines, charts, bars."""
