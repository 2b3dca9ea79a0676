"""The points of a submission: it is run whole, and its functions are called on hidden cases."""
