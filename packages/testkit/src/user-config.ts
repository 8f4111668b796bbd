import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "./temporary-repository.ts";

/** What Gennai has of a user's configuration directory; what is no text is written as JSON. */
type UserFiles = Readonly<Record<string, string | object>>;

/** A user's configuration directory with these files, as Gennai takes them, and an environment that leads there. */
export async function userConfig(files: UserFiles = {}) {
  const home = await temporaryDirectory();
  const path = (name: string): string => join(home.root, "gennai", name);
  const write = async (more: UserFiles): Promise<void> => {
    for (const [name, content] of Object.entries(more)) {
      await mkdir(dirname(path(name)), { recursive: true, mode: 0o700 });
      await writeFile(path(name), typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
    }
  };
  await write(files);
  const environment = { ...process.env, GENNAI_API_KEY: "key-0123456789abcdef", XDG_CONFIG_HOME: home.root };
  return { path, write, environment, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}
