import type { AgentClient } from "@gennai/client/connection/connection";
import { describeModel, listModels, type ProviderChoice, tryModel } from "@gennai/client/host/model-choices";
import type { Backend } from "@gennai/protocol/model/session/backend";
import { CliError, usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { type Said, said } from "./command-host.ts";
import { modelChoice } from "./options/option-values.ts";
import { type WorkspaceServerFlags, workspaceServer } from "./options/workspace-server.ts";

export interface ModelsFlags extends WorkspaceServerFlags {
  readonly backend?: string;
  readonly baseUrl?: string;
  readonly json?: boolean;
}

/** `gennai models`: one line for each model, by provider. */
export async function modelsCommand(flags: ModelsFlags, console: Console): Promise<Said> {
  const which = whichOf(flags);
  await using server = await workspaceServer(flags, console);
  const { signal } = server;
  const providers = await listModels(server.client, which, { signal });
  const rows = providers.flatMap(({ backend, baseUrl, models }) =>
    models.map((model) => ({ backend, baseUrl, ...model })),
  );
  const failed = which !== undefined && providers.every(({ models, problem }) => models.length === 0 && problem !== "");
  return { rows, text: providers.map(describeProvider).join(""), code: failed ? exitCode.failed : exitCode.ok };
}

/** `gennai models try MODEL`: one real request. */
export async function modelsTryCommand(model: string, flags: ModelsFlags, console: Console): Promise<Said> {
  const named = whichOf(flags);
  await using server = await workspaceServer(flags, console);
  const { signal } = server;
  const { backend, baseUrl } = named ?? (await placeOf(server.client, model, signal));
  const trial = await tryModel(server.client, { backend, baseUrl, model }, { signal });
  const json = { backend, baseUrl, model, ...trial };
  if (trial.type === "failed") {
    if (flags.json === true) return said(json, "", exitCode.failed);
    throw new CliError(`${model} (${backend}) did not answer: ${trial.problem}`, {
      next: trial.hint === "" ? [] : [trial.hint],
    });
  }
  return said(json, `${terminalSafe(model)} (${backend}) answered in ${trial.milliseconds} ms.\n`);
}

/** The provider that the options name; undefined: all. */
function whichOf(flags: ModelsFlags): { readonly backend: Backend; readonly baseUrl: string } | undefined {
  const { baseUrl, backend = baseUrl === undefined ? undefined : "openai-compatible" } = modelChoice(flags);
  return backend && { backend, baseUrl: baseUrl ?? "" };
}

/** The provider that has the model. Throws `CliError` if none has it, or several have. */
async function placeOf(client: AgentClient, model: string, signal: AbortSignal) {
  const found = (await listModels(client, undefined, { signal })).filter(({ models }) =>
    models.some((each) => each.model === model),
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const backends = found.map(({ backend }) => backend).join(", ");
  throw found.length === 0
    ? usageError(
        `No provider lists a model ${JSON.stringify(model)}.`,
        "gennai models lists them; or name its --backend.",
      )
    : usageError(`Several providers have ${JSON.stringify(model)}: ${backends}.`, "Name the --backend.");
}

function describeProvider(provider: ProviderChoice): string {
  const { backend, baseUrl, needsKey, hasKey, models, problem, hint } = provider;
  const key = needsKey && !hasKey ? "  no key yet" : "";
  const place = baseUrl === "" ? "" : `  ${terminalSafe(baseUrl)}`;
  const widest = Math.max(0, ...models.map(({ model }) => model.length));
  const lines = models.map((each) =>
    `  ${terminalSafe(each.model).padEnd(widest)}  ${terminalSafe(describeModel(each))}`.trimEnd(),
  );
  const trouble = [problem, hint].filter((text) => text !== "").map((text) => `  ${terminalSafe(text)}`);
  return [`${backend}${place}${key}`, ...lines, ...trouble, ""].join("\n");
}
