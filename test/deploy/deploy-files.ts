import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** Text of a file below `deploy/`. */
export function deployFile(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url)), "utf8");
}

/** Every YAML document of a file below `deploy/`. Throws for what is not sound YAML, warnings included. */
export function deployYaml(name: string): readonly unknown[] {
  return parseAllDocuments(deployFile(name), { merge: true, strict: true, uniqueKeys: true }).map((document) => {
    if (!("contents" in document)) throw new Error(`${name} is empty.`);
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) throw problem;
    const value: unknown = document.toJS();
    return value;
  });
}

const composeSchema = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      command: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).optional(),
      read_only: z.boolean().optional(),
      cap_drop: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
      stop_grace_period: z.string().optional(),
      volumes: z.array(z.string()).default([]),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

export function composeFile(): z.infer<typeof composeSchema> {
  return composeSchema.parse(deployYaml("compose.yaml")[0]);
}

/** Names and values of `--name=value`, in order. */
export function flagsIn(
  args: readonly string[],
): readonly { readonly name: string; readonly value: string | undefined }[] {
  return args.flatMap((arg) => {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    return name === undefined ? [] : [{ name, value }];
  });
}
