import { plainCommands } from "../command/plain-commands.ts";

/**
 * The words of a command that is one program and nothing else: every word is literal. A here-document in `"$(cat <<'EOF'`, as
 * long messages are written, is one word. Undefined for anything else.
 */
export function oneCommand(text: string): readonly [program: string, ...words: string[]] | undefined {
  const documents: string[] = [];
  const plain = text.replaceAll(document, (_all, _end: string, body: string) => {
    documents.push(body);
    return `"${placeholder(documents.length - 1)}"`;
  });
  // The text itself must not contain the placeholder.
  if (documents.length > 0 && text.includes(mark)) return undefined;
  const [command, ...more] = plainCommands(plain.trim(), { HOME: unknown, PWD: unknown }) ?? [];
  if (command === undefined || more.length > 0 || /[<>]|<<|#/.test(withoutQuoted(plain).replace(/2>&1/g, ""))) {
    return undefined;
  }
  const written = command.filter((word) => typeof word === "string");
  if (written.length < command.length) return undefined;
  const [program, ...words] = written.map((word) =>
    word.replaceAll(places, (_all, index: string) => documents[Number(index)] ?? ""),
  );
  if (program === undefined || written.some((word) => word.includes(unknown))) return undefined;
  return [program, ...words];
}

/**
 * The text with each here-document in `"$(cat <<'EOF'` replaced by letters, so that all other characters keep their positions.
 */
export function maskedDocuments(text: string): string {
  return text.replaceAll(document, (whole) => "x".repeat(whole.length));
}

/** In which the shell expands nothing. It takes the line ends at the end away. */
const document = /"\$\(cat <<'(\w+)'\n([^\0]*?)\n+\1\n\s*\)"/g;

const mark = "gennai-document-";
const places = new RegExp(`${mark}(\\d+)-`, "g");
const placeholder = (index: number): string => `${mark}${index}-`;

/** Variables name nothing here. */
const unknown = "gennai-unknown";

function withoutQuoted(text: string): string {
  return text.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "");
}
