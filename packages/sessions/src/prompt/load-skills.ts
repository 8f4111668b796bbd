import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { readUserFile } from "@gennai/machine/config/user-file";
import { systemErrorCode } from "@gennai/machine/system-error";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { isWithin } from "@gennai/protocol/is-within";
import * as z from "zod";

/** Instructions for one kind of work, in their own folder; read when needed. */
export interface Skill {
  readonly name: string;
  /** What it is for, on one line. */
  readonly description: string;
  /** Who wrote it. */
  readonly from: "user" | "repository";
  /** Relative to the workspace for the repository's skills, absolute for the user's. */
  readonly folder: string;
}

export interface LoadedSkills {
  /** By name. */
  readonly skills: ReadonlyMap<string, Skill>;
  readonly warnings: readonly string[];
}

export const skillFile = "SKILL.md";
export const maxSkillBytes = 64 * 1024;
const maxSkills = 100;
const repositoryFolders = [".gennai/skills", ".claude/skills"] as const;

const frontMatter = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "has 1 to 64 lower-case letters, digits, dots, underscores and hyphens"),
  description: z.string().trim().min(1).max(1024),
});

/**
 * The user's skills and the repository's. A repository cannot replace a user's skill: of two with one name the user's wins,
 * then the one in `.gennai`. Never rejects; unreadable ones are left out with a warning.
 * @param root real path of the workspace
 * @param mayRead whether the agent may read a workspace file
 */
export async function loadSkills(options: {
  readonly root: string;
  readonly userDirectory: string;
  readonly mayRead: (path: string) => Promise<boolean>;
}): Promise<LoadedSkills> {
  const { root, userDirectory, mayRead } = options;
  const skills = new Map<string, Skill>();
  const warnings: string[] = [];
  const add = (skill: Skill, file: string): void => {
    const first = skills.get(skill.name);
    if (first !== undefined)
      warnings.push(`${file}: there is a skill ${skill.name} in ${first.folder} already; it is ignored`);
    else if (skills.size >= maxSkills) warnings.push(`${file}: there are more than ${maxSkills} skills; it is ignored`);
    else skills.set(skill.name, skill);
  };
  const own = join(userDirectory, "skills");
  for (const name of folders(own)) {
    const folder = join(own, name);
    const file = join(folder, skillFile);
    await read(file, warnings, async () => {
      const text = await readUserFile(file);
      if (text !== undefined) add({ ...headOf(text, file), from: "user", folder }, file);
    });
  }
  for (const place of repositoryFolders) {
    const directory = insideOf(root, place);
    if (directory === undefined) continue;
    for (const name of folders(directory)) {
      const folder = `${place}/${name}`;
      const file = `${folder}/${skillFile}`;
      await read(file, warnings, async () => {
        const text = await readControlFile(root, file, maxSkillBytes);
        if (await mayRead(file)) add({ ...headOf(text, file), from: "repository", folder }, file);
      });
    }
  }
  return { skills, warnings };
}

/** The text after the front matter. */
export function skillBody(text: string): string {
  return text.replace(matter, "").trim();
}

const matter = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

function headOf(text: string, file: string): Pick<Skill, "name" | "description"> {
  const head = matter.exec(text)?.[1];
  if (head === undefined) throw new SkillError(`${file}: begins with no front matter (---, name, description, ---)`);
  const { data } = parseStrictYaml(head, file);
  const parsed = frontMatter.safeParse(data);
  if (parsed.success) {
    const { name, description } = parsed.data;
    return { name, description: description.replaceAll(/[\s\p{C}]+/gu, " ") };
  }
  const [issue] = parsed.error.issues;
  throw new SkillError(`${file}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "does not fit"}`);
}

class SkillError extends Error {
  override readonly name = "SkillError";
}

async function read(file: string, warnings: string[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return;
    const known = error instanceof SkillError || error instanceof YamlError || code === undefined;
    const why = known && error instanceof Error ? error.message : `${file}: cannot be read (${code})`;
    warnings.push(`${why}; the skill is ignored`);
  }
}

function folders(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => !entry.isFile() && !entry.name.startsWith("."))
      .map(({ name }) => name)
      .sort()
      .slice(0, maxSkills * 2);
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
