/** Values of the only variables that a plain command may name. */
export interface PlainVariables {
  readonly HOME: string;
  readonly PWD: string;
}

/** A word of which the text does not say what the program gets. */
export interface OpenWord {
  /**
   * `names`: files in one directory of the workspace, from a `*` in the last part of a relative path. `output`: what the
   * commands just before this one print, in double quotes.
   */
  readonly open: "names" | "output";
  readonly raw: string;
}

export type PlainWord = string | OpenWord;

/** Longer commands are not written by hand. */
const longest = 4_096;

/**
 * The words of each program in a plainly written command: harmless or quoted words, `$HOME` and `$PWD`, and open words, joined
 * by `|`, `&&`, `||`, `;` or line ends; with input from a file or a here-document, and discarded output. Undefined for anything
 * else: other wildcards, braces, tildes, escapes, variables, substitutions, assignments, subshells, and non-ASCII characters
 * that are no letters. It understands so little of the shell that everything accepted is certain.
 */
export function plainCommands(
  text: string,
  variables: PlainVariables,
): readonly (readonly [program: string, ...words: PlainWord[]])[] | undefined {
  if (text.length > longest) return undefined;
  const commands: PlainWord[][] = [[]];
  let rest = withoutDocument(text).replace(/^ +| +$/g, "");
  while (rest !== "") {
    const [joint] = /^ *(?:&&|\|\||\||;|\n) */.exec(rest) ?? [];
    if (joint !== undefined) {
      commands.push([]);
      rest = rest.slice(joint.length);
      continue;
    }
    rest = rest.replace(/^ +/, "");
    const [comment] = /^#[ -~]*$/.exec(rest) ?? [];
    if (comment !== undefined) break;
    const [redirection] = /^(?:2>&1|[12]?> ?\/dev\/null|< ?(?=[\w./'"]))(?=[ \w./'"|&;\n]|$)/.exec(rest) ?? [];
    if (redirection !== undefined) {
      rest = rest.slice(redirection.length);
      if (redirection.startsWith("<")) {
        // The file name is a word, but not one of the program's.
        const [file] = takeWord(rest);
        if (file === undefined) return undefined;
        rest = rest.slice(file.length);
      }
    } else if (openWord.test(rest)) {
      const [raw = "", inner] = openWord.exec(rest) ?? [];
      rest = rest.slice(raw.length);
      const before = inner === undefined ? [] : plainCommands(inner, variables);
      if (before === undefined) return undefined;
      // In the order of the syntax tree.
      commands.splice(-1, 0, ...before.map((words) => [...words]));
      commands.at(-1)?.push({ open: inner === undefined ? "names" : "output", raw });
    } else {
      const [word] = takeWord(rest);
      if (word === undefined) return undefined;
      const value = valueOf(word, variables);
      if (value === undefined) return undefined;
      commands.at(-1)?.push(value);
      rest = rest.slice(word.length);
    }
    // Adjacent text would become part of the same word.
    if (!/^(?:$|[ \n;|]|&&)/.test(rest)) return undefined;
  }
  return commands.every(isCommand) ? commands : undefined;
}

/** Without a here-document in which nothing is expanded. */
function withoutDocument(text: string): string {
  const [, line = "", quote, end, body = ""] = /^([^\n]*?) ?<<(['"]?)(\w+)\2\n((?:[^\n]*\n)*)\3\n?$/.exec(text) ?? [];
  if (end === undefined || body.split("\n").includes(end)) return text;
  return quote === "" && /[$`\\]/.test(body) ? text : line;
}

function isCommand(words: PlainWord[]): words is [string, ...PlainWord[]] {
  return typeof words[0] === "string";
}

const unquoted = String.raw`[\w@%+=:,./^\p{L}\p{M}-]|(?<=[\w^.-])~`;
const single = String.raw`'[ -&(-~\p{L}\p{M}]*'`;
// After a backslash, only characters that the shell leaves unchanged there; a dollar sign only at the end.
const double = String.raw`"(?:[ !#%-\[\]^_a-~\p{L}\p{M}]|\\[ !#%-\[\]^_a-~]|\$(?:HOME|PWD)(?!\w)|\$(?="))*"`;
const variable = String.raw`\$(?:HOME|PWD)(?!\w)`;
const whole = new RegExp(`^(?:(?:${unquoted}|${single}|${double}|${variable})+|[[\\]](?=[ \\n;|&]|$))`, "u");

// After a directory, no name can expand to an option; names that begin with a dot are not matched.
const someNames = String.raw`(?:[\w@+=,-][\w@+=,.-]*\/)*(?:[\w@+=,-][\w@+=,.-]*)?\*[\w@+=,.-]*(?=[ \n;|&]|$)`;
const someOutput = String.raw`"\$\(([\w ./=:,|-]+)\)"(?=[ \n;|&]|$)`;
const openWord = new RegExp(`^(?:${someOutput}|(?!-)${someNames})`);

function takeWord(text: string): readonly [string | undefined] {
  return [whole.exec(text)?.[0]];
}

/** The word as the program gets it; undefined if it would become several words. */
function valueOf(word: string, variables: PlainVariables): string | undefined {
  let isOne = true;
  const value = word.replaceAll(
    /'([^']*)'|"([^"]*)"|\$(HOME|PWD)/g,
    (_all, quoted?: string, doubleQuoted?: string, name?: string) => {
      if (quoted !== undefined) return quoted;
      if (doubleQuoted !== undefined)
        return doubleQuoted.replaceAll(/\$(HOME|PWD)/g, (_whole, inner: string) => variableOf(inner, variables));
      const replacement = variableOf(name ?? "", variables);
      isOne &&= /^[\w./-]+$/.test(replacement);
      return replacement;
    },
  );
  return isOne ? value : undefined;
}

function variableOf(name: string, variables: PlainVariables): string {
  return name === "HOME" ? variables.HOME : variables.PWD;
}
