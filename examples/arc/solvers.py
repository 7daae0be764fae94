# Programs for the puzzles in tasks/, one for each, in the language that `quern arc run` reads.
# What each has to find out is in the pairs of its task: what goes in, and what should come out.


def solve_kaleidoscope(I):
    x1 = vmirror(I)
    x2 = hconcat(I, x1)
    x3 = hmirror(x2)
    O = vconcat(x2, x3)
    return O


def solve_largest(I):
    x1 = objects(I, T, T, T)
    x2 = argmax(x1, size)
    O = subgrid(x2, I)
    return O


def solve_ponds(I):
    x1 = objects(I, T, F, F)
    x2 = colorfilter(x1, ZERO)
    x3 = rbind(bordering, I)
    x4 = compose(flip, x3)
    x5 = mfilter(x2, x4)
    O = fill(I, FOUR, x5)
    return O


def solve_frames(I):
    x1 = objects(I, T, F, T)
    x2 = mapply(outbox, x1)
    O = fill(I, EIGHT, x2)
    return O


def solve_streets(I):
    x1 = ofcolor(I, TWO)
    x2 = mapply(vfrontier, x1)
    x3 = ofcolor(I, ONE)
    x4 = mapply(hfrontier, x3)
    x5 = underfill(I, TWO, x2)
    O = underfill(x5, ONE, x4)
    return O


def solve_twice(I):
    x1 = switch(I, ONE, TWO)
    O = upscale(x1, TWO)
    return O
