/** What a sed script does besides printing. `unknown` when it does not follow the grammar told here. */
export interface SedScript {
  readonly runs: boolean;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  readonly unknown: boolean;
}

/** Walks a sed script command by command: addresses, then one command letter with its arguments. */
export function sedScript(script: string): SedScript {
  const writes: string[] = [];
  const reads: string[] = [];
  let runs = false;
  let index = 0;
  const result = (unknown: boolean): SedScript => ({ runs, writes, reads, unknown });
  const rest = (): string => {
    const end = script.indexOf("\n", index);
    const text = script.slice(index, end < 0 ? undefined : end).trim();
    index = end < 0 ? script.length : end;
    return text;
  };
  const delimited = (delimiter: string): boolean => {
    for (; index < script.length; index += 1) {
      if (script[index] === "\\") index += 1;
      else if (script[index] === "[" && delimiter !== "[") {
        const close = script.indexOf("]", index + (script[index + 1] === "]" || script[index + 1] === "^" ? 2 : 1));
        if (close > 0 && !script.slice(index, close).includes(delimiter)) index = close;
      } else if (script[index] === delimiter) {
        index += 1;
        return true;
      }
    }
    return false;
  };
  while (index < script.length) {
    const address = /^[\s;{}]*(?:(?:\d+(?:~\d+)?|\$|[+~]\d+)\s*,?\s*|!\s*|,\s*)*/.exec(script.slice(index));
    index += address?.[0].length ?? 0;
    if (index >= script.length) break;
    const command = script[index] ?? "";
    index += 1;
    if (command === "/" || command === "\\") {
      const delimiter = command === "/" ? "/" : (script[index++] ?? "");
      if (!delimited(delimiter)) return result(true);
      while (/[IM]/.test(script[index] ?? "") && /[\s,!{;a-zA-Z]/.test(script[index + 1] ?? " ")) index += 1;
      continue;
    }
    if (command === "#") rest();
    else if ("=dDgGhHnNpPxzFl".includes(command)) continue;
    else if ("qQ".includes(command)) index += /^\s*\d*/.exec(script.slice(index))?.[0].length ?? 0;
    else if (":btT".includes(command)) index += /^[^;\n}]*/.exec(script.slice(index))?.[0].length ?? 0;
    else if ("aic".includes(command)) rest();
    else if ("rR".includes(command)) reads.push(rest());
    else if ("wW".includes(command)) writes.push(rest());
    else if (command === "e") {
      runs = true;
      rest();
    } else if (command === "s" || command === "y") {
      const delimiter = script[index++] ?? "";
      if (delimiter === "" || delimiter === "\n" || !delimited(delimiter) || !delimited(delimiter)) return result(true);
      if (command === "y") continue;
      const flags = /^[gpimIM0-9e]*/.exec(script.slice(index))?.[0] ?? "";
      index += flags.length;
      if (flags.includes("e")) runs = true;
      if (script[index] === "w") {
        index += 1;
        writes.push(rest());
      }
    } else return result(true);
  }
  return result(false);
}
