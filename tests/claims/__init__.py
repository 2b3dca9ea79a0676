"""Does every number in a notebook's analysis stand in the notebook's own outputs, or say where else it comes from?

`reading` finds the numbers of an analysis, `origins` reads where each comes from (a YAML file beside it for each
notebook) and looks there. The YAML files hold no figures: a notebook that was run again needs its text mended, and
nothing here.
"""

# Chapters in which a result is followed by a text on it, without a heading; of these this text is held as Cell 8 is.
# In the others such a text stands above a result. To be all of them.
READ_BELOW_RESULTS = {
    "analogies",
    "async_rl",
    "countdown",
    "dots",
    "game",
    "gradients",
    "judges",
    "maxent_irl",
    "off_policy",
    "ratio_weights",
    "real_model",
    "reasoning_format",
    "transfer",
    "what_rl_adds",
}
