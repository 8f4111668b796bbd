import { join } from "node:path";
import picomatch from "picomatch";
import * as z from "zod";
import { readUserFile } from "../config/user-file.ts";

/** In the user's configuration directory. */
const webFile = "web.json";

/** The shape of the file; `docs/reference/settings.md` is made of it. */
export const webConfigSchema = z.strictObject({
  allow: z
    .array(z.string().min(1).max(300))
    .max(1_000)
    .default([])
    .describe("Hosts, as globs: `docs.example.org`, `*.example.org`."),
  allow_private: z
    .array(z.string().min(1).max(300))
    .max(100)
    .default([])
    .describe("Hosts with their port on this machine or a private network: `127.0.0.1:8080`."),
});

/** What the agent may fetch from the web. Nothing, unless the user wrote something down. */
export interface WebConfig {
  /** False: there is nothing that could be fetched. */
  readonly enabled: boolean;
  readonly allows: (url: URL) => boolean;
  readonly allowsPrivate: (url: URL) => boolean;
  /** What the user wrote that cannot be used. */
  readonly problem: string | undefined;
}

export async function loadWebConfig(configDir: string): Promise<WebConfig> {
  try {
    const text = await readUserFile(join(configDir, webFile));
    if (text === undefined) return nothing(undefined);
    const { allow, allow_private: allowPrivate } = webConfigSchema.parse(JSON.parse(text));
    const matches = picomatch([...allow, ...allowPrivate.map(withoutPort)], { nocase: true, dot: true });
    const isPrivate = new Set(allowPrivate.map((host) => host.toLowerCase()));
    return {
      enabled: allow.length + allowPrivate.length > 0,
      allows: ({ hostname }) => matches(hostname),
      allowsPrivate: (url) => isPrivate.has(`${url.hostname}:${portOf(url)}`),
      problem: undefined,
    };
  } catch (error) {
    const why =
      error instanceof z.ZodError ? error.issues[0]?.message : error instanceof Error ? error.message : String(error);
    return nothing(`${webFile} cannot be used, so no page is fetched: ${why}`);
  }
}

function nothing(problem: string | undefined): WebConfig {
  return { enabled: false, allows: () => false, allowsPrivate: () => false, problem };
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}

function portOf(url: URL): string {
  return url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
}
