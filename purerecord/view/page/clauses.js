// A filter is an expression; a click on a bar adds to it or takes away from it. What a click adds are the parts
// that stand between `and`s. This file knows no more of the language than quotes and parentheses.

// The parts between the `and`s of the outermost level.
export function parts(expression) {
  const found = [];
  let depth = 0;
  let quote = null;
  let begin = 0;
  let either = false;
  for (let at = 0; at < expression.length; at += 1) {
    const mark = expression[at];
    if (quote) {
      if (mark === "\\") at += 1;
      else if (mark === quote) quote = null;
    } else if (mark === '"' || mark === "'" || mark === "`") quote = mark;
    else if ("([".includes(mark)) depth += 1;
    else if (")]".includes(mark)) depth -= 1;
    else if (depth === 0 && /^\s+and\s/.test(expression.slice(at))) {
      found.push(expression.slice(begin, at).trim());
      at += expression.slice(at).match(/^\s+and\s/)[0].length - 1;
      begin = at + 1;
    } else if (depth === 0 && /^\s+or\s/.test(expression.slice(at))) either = true;
  }
  found.push(expression.slice(begin).trim());
  // `a and b or c` has no parts that could be taken away.
  return (either ? [expression.trim()] : found).filter((part) => part !== "");
}

export function join(clauses) {
  if (clauses.length < 2) return clauses[0] ?? "";
  return clauses.map((clause) => (isEither(clause) ? `(${clause})` : clause)).join(" and ");
}

function isEither(clause) {
  return parts(clause).length === 1 && /\sor\s/.test(clause) && !/^\(.*\)$/.test(clause);
}

// Whether all parts of a clause are in the expression.
export function holds(expression, clause) {
  if (!clause) return false;
  const have = parts(expression).map(bare);
  return parts(clause).every((part) => have.includes(bare(part)));
}

// The expression with a clause of a column added, instead of others of the same column; or without it, if it is there.
export function toggled(expression, clause, others) {
  const had = holds(expression, clause);
  const gone = new Set([clause, ...others.filter((other) => holds(expression, other))].flatMap((one) => parts(one).map(bare)));
  const rest = parts(expression).filter((part) => !gone.has(bare(part)));
  return join(had ? rest : [...rest, ...parts(clause)]);
}

function bare(part) {
  const text = part.replace(/\s+/g, " ");
  return /^\([^()]*\)$/.test(text) ? text.slice(1, -1).trim() : text;
}
