"""Pure folds over a whole journal: the report and the what-if lab."""
