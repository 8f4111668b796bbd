import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";

/** A strictly parsed YAML text, with the lines of its values. */
export interface YamlText {
  readonly data: unknown;
  /**
   * 1-based line on which what is at `path` begins, which is that of its key if it has one; or of `needle` inside that value;
   * undefined when there is no such value.
   */
  lineOf(path: readonly (string | number)[], needle?: string): number | undefined;
}

/** A text that is no acceptable YAML. The message begins with `file:line`. */
export class YamlError extends Error {
  readonly code = "invalid_yaml";
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, message: string, options: { readonly cause?: unknown } = {}) {
    super(`${file}:${line}: ${message}`, options);
    this.name = "YamlError";
    this.file = file;
    this.line = line;
  }
}

/**
 * Reads one YAML 1.2 document. Duplicate keys, warnings, aliases, several documents and nesting too deep to
 * parse are errors: such a file may mean something else to the next reader. Throws `YamlError`.
 */
export function parseStrictYaml(text: string, file: string): YamlText {
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const document = parse(text, file, lines);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const what = problem.code === "MULTIPLE_DOCS" ? "it has several documents" : problem.message.trim();
    throw new YamlError(file, lineAt(problem.pos[0]), `${what}; correct the YAML`, { cause: problem });
  }
  let data: unknown;
  try {
    data = document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    const alias = Math.max(0, text.search(/(^|[\s,[{])\*[^\s,\]}]/m));
    throw new YamlError(file, lineAt(alias), "aliases (*name) are not allowed; write the value out", { cause });
  }
  return {
    data,
    lineOf(path, needle) {
      const node = path.length === 0 ? document.contents : document.getIn(path, true);
      if (needle === undefined) {
        const key = keyOf(document, path);
        if (key?.range) return lineAt(key.range[0]);
      }
      if (!isNode(node) || !node.range) return undefined;
      const [start, , end] = node.range;
      const found = needle === undefined ? -1 : text.slice(start, end).indexOf(needle);
      return lineAt(found === -1 ? start : start + found);
    },
  };
}

/** The key of the value at `path`, whose list or mapping usually begins on a later line. */
function keyOf(document: Document.Parsed, path: readonly (string | number)[]) {
  const parent = path.length < 2 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
  return isScalar(pair?.key) ? pair.key : undefined;
}

function parse(text: string, file: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter, uniqueKeys: true, prettyErrors: false, version: "1.2" });
  } catch (cause) {
    // The parser is recursive: a text of brackets exhausts the stack.
    throw new YamlError(file, 1, "could not be parsed, it may be nested too deep; write it flatter", { cause });
  }
}
