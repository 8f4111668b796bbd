import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { startModelServer } from "@gennai/testkit/model-server/model-server";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import * as z from "zod";
import type { OwnRun, RealAgent } from "./real-agent.ts";

interface Tried {
  readonly holds: boolean;
  readonly name: string;
  readonly detail: string;
}

const result = z.looseObject({ output: z.string(), kept: z.array(z.string()) });

/** An agent in runs of its own, with its login covered, and uncovered. */
export async function tryOwnRuns(
  { id, ownRun }: RealAgent,
  programs: { readonly program: string; readonly cli: string },
): Promise<readonly Tried[]> {
  if (ownRun === undefined) return [];
  return [await tryOnce(id, ownRun, programs, false), await tryOnce(id, ownRun, programs, true)];
}

async function tryOnce(
  id: string,
  { wire, answer, program: name, environment, files, login, needsLogin, settings, args, calls, copied }: OwnRun,
  { program, cli }: { readonly program: string; readonly cli: string },
  uncovered: boolean,
): Promise<Tried> {
  await using place = await temporaryDirectory();
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  // The login is read, and its own settings are changed.
  const more = copied === undefined ? "" : `cat ~/${copied.path}; echo more >> ~/${copied.path}; `;
  const command = `{ cat ~/${login}; ${more}echo end; } > made.txt; echo changed > ~/${settings}`;
  await using model = await startModelServer(wire, (_count, { body }) => answer(body, calls(command)));
  const home = (path: string): string => place.path(`home/${path}`);
  const own = files(model.baseUrl);
  for (const [path, content] of Object.entries(own)) {
    mkdirSync(dirname(home(path)), { recursive: true });
    writeFileSync(home(path), content);
  }
  mkdirSync(place.path("bin"));
  symlinkSync(program, place.path(`bin/${name}`));
  const flags = ["--json", "--keep", "--allow", new URL(model.baseUrl).host, ...(uncovered ? ["--login"] : [])];
  const run = spawn(process.execPath, [cli, "guard", "run", ...flags, "--", name, ...args], {
    cwd: repository.root,
    env: {
      PATH: [place.path("bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":"),
      HOME: place.path("home"),
      GENNAI_STATE_DIR: place.path("state"),
      ...environment?.(model.baseUrl),
    },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 180_000,
  });
  const said = await text(run.stdout);
  const { kept, output } = said.startsWith("{") ? result.parse(JSON.parse(said)) : { kept: [], output: said };
  const ledger = execFileSync(process.execPath, [cli, "ledger", "show", "--json"], {
    cwd: repository.root,
    env: { HOME: place.path("home"), GENNAI_STATE_DIR: place.path("state") },
    encoding: "utf8",
  });
  const made = join(repository.root, "made.txt");
  const content = existsSync(made) ? readFileSync(made, "utf8") : "";
  const isUntouched = Object.entries(own).every(([path, before]) => readFileSync(home(path), "utf8") === before);
  const begins = uncovered || needsLogin === undefined;
  const holds = begins
    ? kept.join() === "made.txt" &&
      content.endsWith("end\n") &&
      content.includes(own[login] ?? "") === uncovered &&
      content.includes(copied?.shown ?? "") &&
      (copied === undefined || !content.includes(copied.left)) &&
      ledger.includes(`"agent":"${id}"`)
    : kept.length === 0 && needsLogin.test(output);
  return {
    holds: holds && isUntouched,
    name: `a run of its own, with its login ${uncovered ? "uncovered" : "covered"}; its settings are as before`,
    detail: `kept: ${kept.join(", ")}; said: ${output.trim().slice(-600)}`,
  };
}
