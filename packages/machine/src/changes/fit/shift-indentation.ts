/** The indentation of a line in the model's text, and in the file. */
export interface IndentedPair {
  readonly wanted: string;
  readonly found: string;
}

/** Usual widths of a tab. */
const tabWidths = [2, 4, 8];

/**
 * The one shift that turns the indentation of every wanted line into that of the found line: the same white space added or
 * removed, or tabs for a number of spaces and the reverse. undefined if there is none.
 * @returns a function that shifts an indentation; it gives undefined for one that the shift does not cover
 */
export function indentationShift(pairs: readonly IndentedPair[]): ((indent: string) => string | undefined) | undefined {
  const seen = new Map<string, string>();
  for (const { wanted, found } of pairs) {
    if ((seen.get(wanted) ?? found) !== found) return undefined;
    seen.set(wanted, found);
  }
  const distinct = [...seen].map(([wanted, found]) => ({ wanted, found }));
  const rule = added(distinct) ?? takenAway(distinct) ?? otherCharacter(distinct);
  if (rule === undefined) return undefined;
  const mixes = distinct.some(({ found }) => isMixed(found));
  return (indent) => {
    const shifted = seen.get(indent) ?? rule(indent);
    return shifted !== undefined && isMixed(shifted) && !mixes ? undefined : shifted;
  };
}

type Rule = (indent: string) => string | undefined;

function added(pairs: readonly IndentedPair[]): Rule | undefined {
  const [first] = pairs;
  if (first === undefined) return undefined;
  const more = first.found.slice(0, Math.max(0, first.found.length - first.wanted.length));
  return pairs.every(({ wanted, found }) => found === more + wanted) ? (indent) => more + indent : undefined;
}

function takenAway(pairs: readonly IndentedPair[]): Rule | undefined {
  const less = added(pairs.map(({ wanted, found }) => ({ wanted: found, found: wanted })))?.("");
  if (less === undefined) return undefined;
  return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined);
}

/** Replaces spaces by tabs, or tabs by spaces. */
function otherCharacter(pairs: readonly IndentedPair[]): Rule | undefined {
  for (const [from, to] of [
    [" ", "\t"],
    ["\t", " "],
  ] as const) {
    if (!pairs.every(({ wanted, found }) => isOnly(wanted, from) && isOnly(found, to))) continue;
    const counts = pairs.map(({ wanted, found }) => ({ before: wanted.length, after: found.length }));
    const [one] = counts;
    const other = counts.find(({ before }) => before !== one?.before) ?? { before: 0, after: 0 };
    if (one === undefined || one.before === other.before) return undefined;
    const slope = (one.after - other.after) / (one.before - other.before);
    if (!tabWidths.includes(from === " " ? 1 / slope : slope)) return undefined;
    const count = (before: number) => one.after + (before - one.before) * slope;
    if (!counts.every(({ before, after }) => count(before) === after)) return undefined;
    return (indent) => {
      const after = count(indent.length);
      return isOnly(indent, from) && Number.isInteger(after) && after >= 0 ? to.repeat(after) : undefined;
    };
  }
  return undefined;
}

function isOnly(indent: string, character: string): boolean {
  return indent === character.repeat(indent.length);
}

function isMixed(indent: string): boolean {
  return indent !== "" && !isOnly(indent, indent.slice(0, 1));
}
