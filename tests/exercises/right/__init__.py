"""For each exercise of the catalogue: the course's own function as an oracle, and right functions in other styles.

ORACLE is called like the student's function; None where the course has none. RIGHT are functions that have to pass.
EQUIVALENT gives, for a mutant of the reference that no valid case can tell from it, the reason. UNTOLD gives, for pairs of
slips that together give the right function, the reason.
"""
