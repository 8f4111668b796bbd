import { mkdir } from "node:fs/promises";
import { headlessEditor } from "@gennai/cli/client/headless-editor";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { test } from "vitest";
import { bridgeConformance } from "./bridge-conformance.ts";

async function headlessScene() {
  const parts = new AsyncDisposableStack();
  const both = parts.use(await temporaryDirectory());
  const state = parts.use(await temporaryDirectory());
  const root = both.path("workspace");
  await Promise.all([mkdir(root), mkdir(both.path("outside"))]);
  const editor = headlessEditor({
    workspace: root,
    environment: { ...process.env, GENNAI_AUTH_TOKEN: "not for commands" },
    stateDir: state.root,
    answered: () => ({ answer: "yes", scope: "once" }),
    person: undefined,
  });
  return { editor, root, outside: both.path("outside"), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const cases = bridgeConformance(["runCommand", "applyChanges", "confirm"], headlessScene);

test.concurrent.for(cases)("the headless editor: $name", ({ run }) => run());
