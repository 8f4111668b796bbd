/** Values of the only variables that a plain command may name. */
export interface PlainVariables {
  readonly HOME: string;
  readonly PWD: string;
}

/** A word of which the text does not say what the program gets. */
export interface OpenWord {
  /**
   * `names`: files in one directory of the workspace, by a `*` in the last part of a relative path. `output`: what commands print that
   * stand right before this one, in double quotes.
   */
  readonly open: "names" | "output";
  readonly raw: string;
}

export type PlainWord = string | OpenWord;

/** Longer ones nobody writes by hand. */
const longest = 4_096;

/**
 * The words of each program in a command that is written plainly: words of harmless characters or in quotes, `$HOME` and
 * `$PWD`, and open ones, joined by `|`, `&&`, `||`, `;` or line ends; with input from a file or from lines that
 * stand behind, and output that is thrown away. Undefined for
 * anything else, such as other wildcards, braces, tildes, escapes, other variables, other substitutions, assignments, subshells, and
 * signs beyond ASCII that are no letters. It knows far less of the shell than the shell, so that everything in such a line is certain.
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
        // The file is a word, but none of the program's.
        const [file] = takeWord(rest);
        if (file === undefined) return undefined;
        rest = rest.slice(file.length);
      }
    } else if (openWord.test(rest)) {
      const [raw = "", inner] = openWord.exec(rest) ?? [];
      rest = rest.slice(raw.length);
      const before = inner === undefined ? [] : plainCommands(inner, variables);
      if (before === undefined) return undefined;
      // As the syntax tree has them.
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
    // What is glued to it would be read as one with it.
    if (!/^(?:$|[ \n;|]|&&)/.test(rest)) return undefined;
  }
  return commands.every(isCommand) ? commands : undefined;
}

/** Without a text for its input that stands behind the command, and in which nothing is expanded. */
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
// Behind a backslash stands what the shell leaves alone there; a dollar sign counts only at the end.
const double = String.raw`"(?:[ !#%-\[\]^_a-~\p{L}\p{M}]|\\[ !#%-\[\]^_a-~]|\$(?:HOME|PWD)(?!\w)|\$(?="))*"`;
const variable = String.raw`\$(?:HOME|PWD)(?!\w)`;
const whole = new RegExp(`^(?:(?:${unquoted}|${single}|${double}|${variable})+|[[\\]](?=[ \\n;|&]|$))`, "u");

// Behind a directory, no name can come out as an option; one that begins with a point, or leads up, does not come out.
const someNames = String.raw`(?:[\w@+=,-][\w@+=,.-]*\/)*(?:[\w@+=,-][\w@+=,.-]*)?\*[\w@+=,.-]*(?=[ \n;|&]|$)`;
const someOutput = String.raw`"\$\(([\w ./=:,|-]+)\)"(?=[ \n;|&]|$)`;
const openWord = new RegExp(`^(?:${someOutput}|(?!-)${someNames})`);

function takeWord(text: string): readonly [string | undefined] {
  return [whole.exec(text)?.[0]];
}

/** As the shell gives it to the program; undefined where it would make several words of it. */
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
