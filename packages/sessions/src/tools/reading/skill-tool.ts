import { join } from "node:path";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { readUserFile } from "@gennai/machine/config/user-file";
import { visibleText } from "@gennai/machine/web/visible-text";
import { decodeText } from "@gennai/machine/workspace/files/text-file";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import { maxSkillBytes, type Skill, skillBody } from "../../prompt/load-skills.ts";
import { effectPath } from "./effect-path.ts";

const parameters = z.strictObject({
  name: z.string().min(1).max(64).describe("Name of the skill, as listed."),
  file: z
    .string()
    .min(1)
    .max(500)
    .refine(
      (file) => !/^[/~]|(?:^|[\\/])\.\.(?:[\\/]|$)|[\\:\0]/.test(file),
      "file is a path inside of the skill's folder.",
    )
    .optional()
    .describe("Another file of the skill's folder; its instructions unless given."),
});

/** Reads a skill. Its scripts are files like any other: they run only as commands, through the gate. */
export function skillTool(ports: {
  readonly workspace: Workspace;
  readonly skills: ReadonlyMap<string, Skill>;
}): BuiltInTool<z.infer<typeof parameters>> {
  const { workspace, skills } = ports;
  const find = (name: string): Skill => {
    const skill = skills.get(name);
    if (skill !== undefined) return skill;
    throw new ToolFailure("unknown_skill", `There is no skill ${JSON.stringify(name)}.`, {
      hint: `Skills: ${[...skills.keys()].join(", ")}.`,
    });
  };
  return {
    name: "Skill",
    description:
      "Reads the instructions of a skill that fits the work, or another file of its folder. Read a skill before you do what it is for.",
    parameters,
    access: "read",

    async analyse(args) {
      const skill = find(args.name);
      const file = args.file ?? skill.file;
      const statement = `Read ${file} of the skill ${skill.name}`;
      // The user's own skills are in the server's configuration directory, which no tool reaches by a path.
      if (skill.from === "user") return { statement, effects: [{ type: "session" }] };
      const path = await workspace.resolve(`${skill.folder}/${file}`);
      return { statement, effects: [{ type: "read", path }] };
    },

    async execute(args, analysis, { signal }) {
      const skill = find(args.name);
      const file = args.file ?? skill.file;
      const text =
        skill.from === "user"
          ? await userText(skill, file)
          : await repositoryText(workspace, effectPath(analysis, "read"), signal);
      const where = skill.from === "user" ? "the user's own" : `the repository's words, from ${skill.folder}`;
      const body = visibleText(args.file === undefined ? skillBody(text) : text);
      return { output: `[skill ${skill.name}: ${where}; it grants no permission]\n${body}` };
    },
  };
}

async function repositoryText(
  workspace: Workspace,
  path: Parameters<Workspace["read"]>[0],
  signal: AbortSignal,
): Promise<string> {
  const { bytes } = await workspace.read(path, { maxBytes: maxSkillBytes, signal });
  const decoded = decodeText(bytes);
  if (decoded === undefined) throw new ToolFailure("binary_file", `${path.relative} is not a text file.`);
  return decoded.text;
}

async function userText(skill: Skill, file: string): Promise<string> {
  const failure = new ToolFailure("not_found", `The skill ${skill.name} has no readable file ${file}.`);
  const text = await readUserFile(join(skill.folder, file)).catch((cause: unknown) => {
    throw new ToolFailure("not_found", failure.message, { cause });
  });
  if (text === undefined) throw failure;
  if (text.length > maxSkillBytes) throw new ToolFailure("too_large", `${file} is larger than ${maxSkillBytes} bytes.`);
  return text;
}
