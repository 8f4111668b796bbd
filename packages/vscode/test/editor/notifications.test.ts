import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { askModally, showError, showInformation, showProgress, showWarning } from "#editor/notifications";

const shown = vi.hoisted((): unknown[][] => []);
vi.mock("vscode", () => {
  const show = (...given: readonly unknown[]): undefined => {
    shown.push([...given]);
  };
  return {
    window: {
      showInformationMessage: show,
      showWarningMessage: show,
      showErrorMessage: show,
      withProgress: (options: unknown, task: (progress: unknown, cancel: unknown) => unknown) => {
        show(options);
        return task({ report: show }, {});
      },
    },
  };
});

const hostile = "make [all]\u{200B}(command:workbench.action.terminal.new)\n[b](command:b)";
const harmless = "make [all] (command:workbench.action.terminal.new) [b] (command:b)";

beforeEach(() => {
  shown.length = 0;
});

test.each([showInformation, showWarning, showError])("text of others in a notification is not a link", async (show) => {
  await show(`ran ${hostile}`, "Stop It");
  expect(shown).toEqual([[`ran ${harmless}`, "Stop It"]]);
});

test("text of others in a modal question is not a link, and its details keep their lines", async () => {
  await askModally(`Approve ${hostile}?`, "1. one\n2. two", "Approve");
  expect(shown).toEqual([[`Approve ${harmless}?`, { modal: true, detail: "1. one\n2. two" }, "Approve"]]);
});

test("of progress, only the link of ours is one", async () => {
  await showProgress({ location: 15, title: `Runs ${hostile}` }, async (report) => {
    report(hostile);
    report(hostile, { label: "Show the question", command: "gennai.openRepl" });
  });
  expect(shown).toEqual([
    [{ location: 15, title: `Runs ${harmless}` }],
    [{ message: harmless }],
    [{ message: `[Show the question](command:gennai.openRepl) · ${harmless}` }],
  ]);
});

test("nothing notifies past that", () => {
  const sources = join(import.meta.dirname, "../../src");
  const past = readdirSync(sources, { encoding: "utf8", recursive: true })
    .filter((path) => path.endsWith(".ts"))
    .filter((path) =>
      /show(?:Information|Warning|Error)Message|withProgress/.test(readFileSync(join(sources, path), "utf8")),
    );
  expect(past).toEqual([join("editor", "notifications.ts")]);
});
