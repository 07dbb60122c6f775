"""Folds over a whole journal, pure: the report, the what-if lab."""
