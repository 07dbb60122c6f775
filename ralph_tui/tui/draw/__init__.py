"""Drawing helpers without widgets: spans, lines, charts and bars."""
