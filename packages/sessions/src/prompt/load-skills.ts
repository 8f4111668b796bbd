import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { readUserFile } from "@gennai/machine/config/user-file";
import { systemErrorCode } from "@gennai/machine/system-error";
import { visibleText } from "@gennai/machine/web/visible-text";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { isWithin } from "@gennai/protocol/is-within";
import * as z from "zod";
import { createMayRead, type MayRead } from "../context/may-read.ts";
import type { Session } from "../session/session.ts";

/** Instructions for one kind of work, read when needed: a folder with a `SKILL.md`, or a single file of another agent's commands. */
export interface Skill {
  readonly name: string;
  /** What it is for, on one line. */
  readonly description: string;
  /** Who wrote it. */
  readonly from: "user" | "repository";
  /** Relative to the workspace for the repository's skills, absolute for the user's. */
  readonly folder: string;
  /** Name of the file in it that has the instructions. */
  readonly file: string;
}

/** A sub-agent of a file of another agent: its instructions are the rest of the file. */
export interface SubAgentFile extends Skill {
  readonly instructions: string;
  /** Names of the tools that it may use at most; undefined: those of the agent that starts it. */
  readonly tools: readonly string[] | undefined;
  /** Names of tools that it may not use. */
  readonly without: readonly string[];
}

interface Loaded<Kind extends Skill> {
  /** By name. */
  readonly found: ReadonlyMap<string, Kind>;
  readonly warnings: readonly string[];
}

interface LoadOptions {
  /** Real path of the workspace. */
  readonly root: string;
  /** Of the user's own configuration. */
  readonly userDirectory: string;
  /** Of the user, for the directories that other agents have as well. */
  readonly home: string;
  /** Whether the agent may read a workspace file. */
  readonly mayRead: (path: string) => Promise<boolean>;
}

const skillFile = "SKILL.md";
export const maxSkillBytes = 64 * 1024;
const maxSkills = 100;
/** Most entries of one directory of skills that are looked at. */
const maxEntries = 1_000;
/** Of a repository, below its root, and of a user, below the home; the first of two with one name wins. */
const skillPlaces = [".agents/skills", ".claude/skills"] as const;
const commandPlaces = [".claude/commands"] as const;
const agentPlaces = [".claude/agents"] as const;
const repositorySkills = [".gennai/skills", ...skillPlaces, ...commandPlaces] as const;
/** Directories of a repository that have skills, commands and sub-agents. */
export const repositoryInstructions = [...repositorySkills, ...agentPlaces] as const;

const frontMatter = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "has 1 to 64 lower-case letters, digits, dots, underscores and hyphens"),
  description: z.string().trim().min(1),
});
/** Characters of a description that are used. */
const maxDescription = 1024;

/**
 * The user's skills and the repository's. A repository cannot replace a user's skill: of two with one name the user's wins,
 * then the one in `.gennai`. Never rejects; what is left out is named in a warning.
 */
export function loadSkills(options: LoadOptions): Promise<Loaded<Skill>> {
  const { userDirectory, home } = options;
  const theirs = [...skillPlaces, ...commandPlaces].map((place) => join(home, place));
  const users = [join(userDirectory, "skills"), ...theirs];
  return load(options, { word: "skill", users, repository: repositorySkills }, (skill) => skill);
}

/** The same for sub-agents. They may have no more tools than who starts them, whatever their files say. */
export function loadSubAgents(options: LoadOptions): Promise<Loaded<SubAgentFile>> {
  const users = agentPlaces.map((place) => join(options.home, place));
  return load(options, { word: "sub-agent", users, repository: agentPlaces }, (skill, text, path) => {
    const { tools, disallowedTools } = fieldsOf(matter.exec(text)?.[1] ?? "", path);
    const named = namesOf(tools, path);
    const isAll = tools === undefined || tools === null || named.includes("*");
    const instructions = visibleText(skillBody(text));
    return { ...skill, instructions, tools: isAll ? undefined : named, without: namesOf(disallowedTools, path) };
  });
}

/** Names in a list, or in one text with commas. What is neither is refused, as it may be meant to take tools away. */
function namesOf(value: unknown, path: string): readonly string[] {
  const parsed = z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .safeParse(value);
  if (!parsed.success) throw new SkillError(`${path}: tools is no list of names`);
  const names = typeof parsed.data === "string" ? parsed.data.split(",") : (parsed.data ?? []);
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

async function load<Kind extends Skill>(
  { root, mayRead }: LoadOptions,
  places: { readonly word: string; readonly users: readonly string[]; readonly repository: readonly string[] },
  make: (skill: Skill, text: string, path: string) => Kind,
): Promise<Loaded<Kind>> {
  const { word, users, repository } = places;
  const all = new Map<string, Kind>();
  const warnings: string[] = [];
  const add = (skill: Skill, text: string, file: string): void => {
    const first = all.get(skill.name);
    if (first !== undefined)
      warnings.push(`${file}: there is a ${word} ${skill.name} in ${first.folder} already; it is ignored`);
    else all.set(skill.name, make(skill, text, file));
  };
  let left = 0;
  const isFull = (): boolean => {
    if (all.size < maxSkills) return false;
    left += 1;
    return true;
  };
  for (const place of users) {
    for (const found of entriesOf(place, place, warnings)) {
      if (isFull()) continue;
      const path = join(found.folder, found.file);
      await read(path, word, warnings, async () => {
        const text = await readUserFile(path);
        if (text !== undefined) add({ ...headOf(text, path, found), from: "user" }, text, path);
      });
    }
  }
  for (const place of repository) {
    const directory = insideOf(root, place);
    if (directory === undefined) continue;
    for (const found of entriesOf(directory, place, warnings)) {
      if (isFull()) continue;
      const path = `${found.folder}/${found.file}`;
      await read(path, word, warnings, async () => {
        const text = await readControlFile(root, path, maxSkillBytes);
        if (await mayRead(path)) add({ ...headOf(text, path, found), from: "repository" }, text, path);
      });
    }
  }
  if (left > 0) warnings.push(`There are more than ${maxSkills} ${word}s; ${left} of the last ones are not looked at`);
  return { found: all, warnings };
}

/** The text after the front matter. */
export function skillBody(text: string): string {
  return text.replace(matter, "").trim();
}

const matter = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Where the instructions of a skill may be, and its name where they do not say one. */
type Found = Pick<Skill, "name" | "folder" | "file"> & { readonly isCommand: boolean };

function headOf(text: string, path: string, { isCommand, ...found }: Found): Omit<Skill, "from"> {
  const head = matter.exec(text)?.[1];
  if (head === undefined && !isCommand) {
    throw new SkillError(`${path}: begins with no front matter (---, name, description, ---)`);
  }
  const said = head === undefined ? {} : fieldsOf(head, path);
  const firstLine = skillBody(text).split("\n", 1)[0] ?? "";
  const parsed = frontMatter.safeParse({
    name: isCommand ? found.name : (said["name"] ?? found.name),
    description: said["description"] ?? (isCommand ? firstLine : undefined),
  });
  if (parsed.success) {
    const { name, description } = parsed.data;
    return { ...found, name, description: description.replaceAll(/[\s\p{C}]+/gu, " ").slice(0, maxDescription) };
  }
  const [issue] = parsed.error.issues;
  throw new SkillError(`${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "does not fit"}`);
}

/** The fields of front matter. Other agents take a value with `: ` in it, which is no YAML: each line is then one field. */
function fieldsOf(head: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const { data } = parseStrictYaml(head, path);
    return z.record(z.string(), z.unknown()).catch({}).parse(data);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const lines = [...head.matchAll(/^(\w[\w-]*):[ \t]+(.+)$/gm)];
    const fields = Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value.trim()]));
    if (fields["description"] === undefined) throw error;
    return fields;
  }
}

class SkillError extends Error {
  override readonly name = "SkillError";
}

async function read(file: string, word: string, warnings: string[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return;
    const known = error instanceof SkillError || error instanceof YamlError || code === undefined;
    const why = known && error instanceof Error ? error.message : `${file}: cannot be read (${code})`;
    warnings.push(`${why}; the ${word} is ignored`);
  }
}

/** What may be a skill in a directory. @param place as skills and warnings name the directory */
function entriesOf(directory: string, place: string, warnings: string[]): readonly Found[] {
  if (!existsSync(directory)) return [];
  const isCommand = commandPlaces.some((each) => place.endsWith(each));
  const isFile = isCommand || agentPlaces.some((each) => place.endsWith(each));
  try {
    const entries = readdirSync(directory, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
    const all = entries
      .filter((entry) => (isFile ? entry.name.endsWith(".md") : !entry.isFile()))
      .map(
        ({ name }): Found =>
          isFile
            ? { name: basename(name, ".md").toLowerCase(), folder: place, file: name, isCommand }
            : { name, folder: `${place}/${name}`, file: skillFile, isCommand },
      )
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    if (all.length > maxEntries) warnings.push(`${place}: has more than ${maxEntries} entries; the rest is ignored`);
    return all.slice(0, maxEntries);
  } catch {
    return [];
  }
}

function insideOf(root: string, place: string): string | undefined {
  if (!existsSync(join(root, place))) return undefined;
  try {
    const real = realpathSync.native(join(root, place));
    return isWithin(real, { directory: root }) ? real : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The skills that a turn of this session may use, by name. Throws `ServiceError` if the project's configuration cannot be read.
 * @param mayRead created for this session just before
 */
export async function sessionSkills(session: Session, mayRead?: MayRead): Promise<ReadonlyMap<string, Skill>> {
  const { workspace, services } = session;
  const options = { root: workspace.controlRoot, userDirectory: services.configDir, home: services.home };
  return (await loadSkills({ ...options, mayRead: mayRead ?? (await createMayRead(session)) })).found;
}
