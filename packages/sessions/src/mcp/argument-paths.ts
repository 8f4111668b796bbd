import { posix } from "node:path";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { parsedJson } from "@gennai/protocol/json-value";

/** Maximum strings in one call's arguments, and maximum nesting. */
const maxStrings = 500;
const maxDepth = 32;
const maxPathLength = 4_096;
/** Maximum length of a string that may be a path, including encoded ones. */
const maxTextLength = 64 * 1024;

interface ArgumentPathPorts {
  readonly workspace: Pick<Workspace, "resolve" | "stat">;
  readonly home: string;
  /** Working directory of the server, relative to the workspace or absolute; undefined: the workspace. */
  readonly cwd?: string | undefined;
}

/**
 * Paths in the arguments of an external tool, as far as they can be recognised: strings that look like a path (also encoded,
 * quoted in JSON, or after an option), or that name something in the workspace. Throws `ToolFailure` if there are too many, or
 * if one cannot be resolved here.
 */
export async function argumentPaths(args: unknown, ports: ArgumentPathPorts): Promise<readonly WorkspacePath[]> {
  const texts = new Map<string, Written>();
  for (const { text, isKey } of stringsIn(args, 0)) {
    for (const written of readings(text, ports.home)) {
      if (!isKey || written.kind !== "name") texts.set(`${written.kind} ${written.path}`, written);
    }
    if (texts.size > maxStrings) throw tooLarge(`The arguments hold more than ${maxStrings} strings.`);
  }
  const found = new Map<string, WorkspacePath>();
  for (const written of texts.values()) {
    for (const path of await resolved(written, ports)) found.set(path.absolute, path);
  }
  return [...found.values()];
}

/**
 * `leads`: clearly a path (from the root, from home, or out of a directory); `path`: contains directories; `name`: a path only
 * if something with that name exists.
 */
interface Written {
  readonly path: string;
  readonly kind: "leads" | "path" | "name";
}

async function resolved(written: Written, { workspace, cwd }: ArgumentPathPorts): Promise<readonly WorkspacePath[]> {
  const { path, kind } = written;
  const isRelative = !path.startsWith("/");
  const places = [path, ...(isRelative && cwd !== undefined ? [`${cwd}/${path}`] : [])];
  const found: WorkspacePath[] = [];
  for (const [index, place] of places.entries()) {
    const target = await resolvedAnyhow(place, workspace);
    if (target === undefined) {
      if (kind !== "leads") continue;
      throw new ToolFailure("bad_path", `${JSON.stringify(path.slice(0, 200))} is a path that cannot be judged.`, {
        hint: "Write it plainly, relative to the workspace.",
      });
    }
    const isCertain = kind === "leads" || (kind === "path" && index === 0);
    if (isCertain || (target.inside && (await workspace.stat(target).catch(() => undefined)) !== undefined)) {
      found.push(target);
    }
  }
  return found;
}

/** Some paths that we refuse may work for a server: then their plain form is judged. */
async function resolvedAnyhow(path: string, workspace: Pick<Workspace, "resolve">): Promise<WorkspacePath | undefined> {
  for (const form of new Set([path, plainForm(path), posix.normalize(plainForm(path))])) {
    if (form.length > maxPathLength) continue;
    const target = await workspace.resolve(form).catch(() => undefined);
    if (target !== undefined) return target;
  }
  return undefined;
}

function plainForm(path: string): string {
  return path
    .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replaceAll("\\", "/")
    .replaceAll(/(?<=[^/.\s])[\s.]+(?=\/|$)/g, "")
    .replaceAll(/\/{2,}/g, "/");
}

/** Every way in which a program may read the string. */
function readings(text: string, home: string): readonly Written[] {
  if (text.length > maxTextLength) return [];
  const trimmed = text.trim();
  const forms = new Set([text, trimmed, decoded(trimmed)]);
  for (const form of [...forms]) {
    const value = /^[^\s/=]{1,100}=(.+)$/s.exec(form)?.[1] ?? /^@(.+)$/s.exec(form)?.[1];
    if (value !== undefined) forms.add(value.replace(/^(["'])(.*)\1$/s, "$2"));
  }
  return [...forms].flatMap((form) => asPath(form, home) ?? []);
}

function asPath(text: string, home: string): Written | undefined {
  if (text === "" || /[\n\r\0]/.test(text)) return undefined;
  // URLs without a host refer to this machine, and so do `file:` URLs with one.
  const local = /^(?:file:(?:\/\/[^/]*)?|[a-z][a-z0-9+.-]*:\/\/(?=\/))(.*)$/i.exec(text)?.[1];
  if (local !== undefined) return { path: decoded(local), kind: "leads" };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined;
  const fromHome = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)(.*)$/.exec(text)?.[1];
  if (fromHome !== undefined) return { path: home + fromHome, kind: "leads" };
  const slashes = text.replaceAll("\\", "/");
  if (text.startsWith("/") || /^\.\.?(\/|$)/.test(slashes) || /(^|\/)\.\.(\/|$)/.test(slashes))
    return { path: text, kind: "leads" };
  // With a backslash, it is more often a regular expression than a path.
  return { path: text, kind: text.includes("/") && !/[\s\\]/.test(text) ? "path" : "name" };
}

/** Removes percent-encoding, even if it was applied several times. */
function decoded(text: string): string {
  let plain = text;
  for (let round = 0; round < 4 && /%[0-9a-f]{2}/i.test(plain); round += 1) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return plain;
    }
  }
  return plain;
}

interface Found {
  readonly text: string;
  readonly isKey: boolean;
}

function* stringsIn(value: unknown, depth: number): Generator<Found> {
  if (depth > maxDepth) throw tooLarge(`The arguments are more than ${maxDepth} levels deep.`);
  if (typeof value === "string") {
    yield { text: value, isKey: false };
    const inner = asJson(value);
    if (inner !== undefined) yield* stringsIn(inner, depth + 1);
  } else if (Array.isArray(value)) {
    for (const inner of value) yield* stringsIn(inner, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      yield { text: key, isKey: true };
      yield* stringsIn(inner, depth + 1);
    }
  }
}

/** JSON in a string argument, parsed. */
function asJson(text: string): unknown {
  return /^\s*(?:[[{]|"(?=.*"\s*$))/s.test(text) ? parsedJson(text) : undefined;
}

function tooLarge(message: string): ToolFailure {
  return new ToolFailure("too_large", message, { hint: "Split the call." });
}
