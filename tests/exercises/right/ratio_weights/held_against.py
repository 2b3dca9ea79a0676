"""Right measures of an estimator."""

ORACLE = None


EQUIVALENT = {
    "bias: return (exact - mean).norm() / length": "a difference has one length, whichever way it is taken",
    "around: return (mean - draws).norm(dim=1)": "a difference has one length, whichever way it is taken",
}
