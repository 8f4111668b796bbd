import { isAbsolute, join } from "node:path";
import * as z from "zod";
import { ExpectedError } from "../expected-error.ts";
import { findPrivateFile, readPrivateFile } from "../private-file.ts";
import { parseStrictYaml } from "./strict-yaml.ts";

const loopback = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/;
const address = z
  .url()
  .max(2_000)
  .refine((url) => url.startsWith("https://") || loopback.test(url), "neither https nor on this machine");
const file = z.string().min(1).max(1_000);

const waySchema = z.discriminatedUnion("via", [
  z.strictObject({ via: z.literal("ntfy"), url: address, token_file: file.optional() }),
  z.strictObject({ via: z.literal("slack"), url_file: file }),
  z.strictObject({ via: z.literal("webhook"), url: address, secret_file: file }),
  z.strictObject({ via: z.literal("email"), command: z.array(z.string().min(1)).min(1) }),
]);

/** By what a person is told of a question. Its files are absolute. */
export type Way = z.infer<typeof waySchema>;

/** The shape of `people.yaml`; `docs/reference/settings.md` is generated from it. */
export const peopleSchema = z.strictObject({
  url: address
    .optional()
    .describe(
      "How people reach the server, `https://HOST` or an address of this machine; without it messages have no link.",
    ),
  after_seconds: z
    .int()
    .min(0)
    .max(3_600)
    .default(60)
    .describe(
      "How long a question waits at an open client first; 60 without it. Without a client, people are told at once.",
    ),
  wait_minutes: z
    .int()
    .min(1)
    .max(720)
    .default(30)
    .describe("How long an answer may take; then it is a no. 30 without it."),
  most_risk: z
    .enum(["low", "medium"])
    .default("medium")
    .describe("Questions of a higher risk are asked at clients only; `medium` without it."),
  people: z
    .record(
      z.string().regex(/^[a-z][a-z0-9._-]{0,39}$/, "not a name of a-z, 0-9, ., _ and -"),
      z.array(waySchema).min(1).max(5),
    )
    .describe(
      "NAME: ways to tell that person. `{via: ntfy, url, token_file}`, `{via: slack, url_file}`, `{via: webhook, url, secret_file}`, `{via: email, command}`.",
    ),
});

export type People = Readonly<z.infer<typeof peopleSchema>>;

/** `people.yaml` cannot be used. The message begins with its file and line. */
class BadPeopleFile extends ExpectedError {
  override readonly name = "BadPeopleFile";
  readonly code = "bad_people_file";
  readonly isWrongInput = true;
}

/** Who is asked of a user's questions; undefined where there is no such file. Rejects with `ExpectedError`, also for a secret that others can read. */
export async function loadPeople(configDir: string): Promise<People | undefined> {
  const path = join(configDir, "people.yaml");
  const text = await findPrivateFile(path);
  if (text === undefined) return undefined;
  const { data, lineOf } = yamlOf(text, path);
  const read = peopleSchema.safeParse(data);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
    throw new BadPeopleFile(
      `${path}:${lineOf(at) ?? 1}: ${at.join(".") || "the file"} ${issue?.message ?? "is not valid"}`,
    );
  }
  const named = (one: Way): Way => mapFiles(one, (name) => (isAbsolute(name) ? name : join(configDir, name)));
  const people = Object.entries(read.data.people).map(([name, ways]) => [name, ways.map(named)] as const);
  for (const [, ways] of people)
    for (const way of ways) for (const secret of filesOf(way)) await readPrivateFile(secret);
  return { ...read.data, people: Object.fromEntries(people) };
}

function yamlOf(text: string, path: string): ReturnType<typeof parseStrictYaml> {
  try {
    return parseStrictYaml(text, path);
  } catch (cause) {
    throw new BadPeopleFile(cause instanceof Error ? cause.message : path, { cause });
  }
}

function mapFiles(way: Way, absolute: (name: string) => string): Way {
  switch (way.via) {
    case "ntfy":
      return way.token_file === undefined ? way : { ...way, token_file: absolute(way.token_file) };
    case "slack":
      return { ...way, url_file: absolute(way.url_file) };
    case "webhook":
      return { ...way, secret_file: absolute(way.secret_file) };
    case "email":
      return way;
  }
}

function filesOf(way: Way): readonly string[] {
  return Object.entries(way).flatMap(([key, value]) =>
    key.endsWith("_file") && typeof value === "string" ? [value] : [],
  );
}
