import { ToolFailure } from "@gennai/governance/tool-error";

/** Refuses (`bad_path`) text that cannot be a path here, whatever is on the disk. */
export function checkPathSyntax(raw: string): void {
  if (raw === "") throw badPath("The path is empty.", "Use . for the workspace root.");
  if (Buffer.byteLength(raw) > maximumPathBytes) throw badPath(`The path is longer than ${maximumPathBytes} bytes.`);
  checkVisible(raw);
  if (raw.startsWith("//")) throw badPath(`${raw} looks like a network path.`, "Start with at most one / .");
  const [first = ""] = raw.split("/");
  if (first.startsWith("~") || first.includes("$")) {
    throw badPath(
      `${raw}: ~ and variables are never expanded in paths.`,
      `Give a path relative to the workspace, or ./${raw} for a file that is really named so.`,
    );
  }
}

/**
 * Refuses (`bad_path`) names for something new. The rules combine those of all platforms: a name that Windows or a terminal would
 * read differently than Linux is refused everywhere, because sessions move between them. What has such a name already can be
 * used.
 *
 * @param names those of the path that do not exist
 * @param isWhole whether nothing of the path exists
 */
export function checkNewNames(raw: string, names: readonly string[], isWhole: boolean): void {
  if (isWhole && uri.test(raw)) throw badPath(`${raw} is a URI, not a path.`, "Give the path without a scheme.");
  if (isWhole && drive.test(raw) && !(process.platform === "win32" && absoluteDrive.test(raw))) {
    throw badPath(`${raw} names a drive.`, "Give a path relative to the workspace.");
  }
  for (const name of names) checkName(name, raw);
}

/**
 * Refuses (`bad_path`) characters that are invisible or move the cursor: with them, lines in ledgers and terminals can be forged.
 */
export function checkVisible(path: string): void {
  const found = invisible.exec(path)?.[0];
  if (found === undefined) return;
  const codePoint = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  throw badPath(`The path contains a control or invisible character (U+${codePoint}).`, "Write the path without it.");
}

/** The failure for text that is not a path. */
export function badPath(message: string, hint?: string, cause?: unknown): ToolFailure {
  return new ToolFailure("bad_path", message, { cause, hint });
}

function checkName(component: string, raw: string): void {
  if (component === "" || component === "." || component === "..") return;
  if (component.includes("\\")) throw badPath(`${raw} contains a backslash.`, "Separate directories with / .");
  if (/[\s.]$/u.test(component)) {
    throw badPath(`${raw}: the name "${component}" ends with a dot or a space, which Windows drops.`);
  }
  if (deviceName.test(component)) throw badPath(`${raw}: "${component}" is a device name on Windows.`);
  if (
    alternateStream.test(component) ||
    (process.platform === "win32" && component.includes(":") && !drive.test(raw))
  ) {
    throw badPath(`${raw}: "${component}" names an alternate data stream.`);
  }
}

const maximumPathBytes = 4096;
// Default_Ignorable_Code_Point covers zero-width, bidi, variation selectors and fillers, Cs a lone surrogate.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const uri = /^(?:[a-z][a-z0-9+.-]+:\/|(?:file|data|https?|untitled|vscode[a-z-]*|javascript|mailto|urn|about|blob):)/i;
const drive = /^[a-z]:/i;
const absoluteDrive = /^[a-z]:\//i;
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:[.:].*)?$/iu;
const alternateStream = /::|:\$/;
