// @vitest-environment happy-dom

import { SessionView } from "@gennai/client/view/session-view";
import { sha256Hex } from "@gennai/protocol/digest";
import { ChangeOperation, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { expect, it, vi } from "vitest";
import { ChatProvider, Folds } from "#chat/chat-context";
import { ChatRow } from "#chat/items/chat-row.tsx";
import { ChangeContents } from "#control/session/change-contents";
import { EventLog } from "../../../client/test/view/wire-events.ts";
import { idleControl } from "../chat/idle-control.ts";

const before = "export const a = 1;\n";
const after = 'export const a = "two";\n';
const written = {
  path: "src/a.ts",
  operation: ChangeOperation.UPDATE,
  beforeSha256: sha256Hex(before),
  afterSha256: sha256Hex(after),
};

function shown(log: EventLog) {
  const view = new SessionView();
  for (const event of log.events) view.apply(event);
  const blobs = new Map([before, after].map((text) => [sha256Hex(text), new TextEncoder().encode(text)]));
  const changes = new ChangeContents(async (sha256) => {
    const bytes = blobs.get(sha256);
    if (bytes === undefined) throw new Error("purged");
    return bytes;
  });
  const control = idleControl();
  vi.spyOn(control, "stores", "get").mockReturnValue(signal(Object.assign(control.stores.value, { changes })));
  const root = document.createElement("div");
  const rows = view.cells.map((cell) => h(ChatRow, { key: cell.key, cell }));
  render(h(ChatProvider, { value: { control, folds: new Folds() }, children: rows }), root);
  return root;
}

function edited(name: string, argumentsJson: string) {
  return new EventLog()
    .add("t", { case: "toolCall", value: { id: "c", name, argumentsJson } }, "c")
    .status("t", InvokeState.RUN_TOOL, { toolCallId: "c", toolName: name })
    .add("t", { case: "toolResult", value: { id: "c", output: "Edited." } })
    .add("t", {
      case: "changeSetApplied",
      value: { changeSetId: "t", files: [written], toolCallId: "c", branch: "ai-agent/x" },
    });
}

it("shows under an edit what was written, not what the model asked for", async () => {
  const root = shown(edited("Edit", '{"file_path":"src/a.ts","old_string":"what","new_string":"was wanted"}'));
  await vi.waitFor(() => expect(root.querySelector("table.diff")).not.toBeNull());
  const [removed, added] = [...root.querySelectorAll("td.diff-code")].map(({ textContent }) => textContent);
  expect(removed).toBe("removed: export const a = 1;");
  expect(added).toBe('added: export const a = "two";');
  expect(root.querySelector(".line-counts .spoken")?.textContent).toBe("1 added, 1 removed");
  expect(root.textContent).not.toContain("was wanted");
  await vi.waitFor(() => expect(root.querySelector(".tok-keyword")?.textContent).toBe("export"));
});

it("names the file under a command that changed it", async () => {
  const root = shown(edited("Bash", '{"command":"sed -i s/1/2/ src/a.ts"}'));
  await vi.waitFor(() => expect(root.querySelector("table.diff")).not.toBeNull());
  expect(root.querySelector(".changed-file .file-path")?.textContent).toBe("src/a.ts");
});

it("counts lines on the card of what a turn changed, and says where it was written", async () => {
  const root = shown(edited("Edit", '{"file_path":"src/a.ts"}').status("t", InvokeState.COMPLETED));
  const card = [...root.querySelectorAll("section.card")].find(({ textContent }) =>
    textContent?.includes("1 file changed"),
  );
  await vi.waitFor(() => expect(card?.querySelector(".line-counts .spoken")?.textContent).toBe("1 added, 1 removed"));
  expect(card?.querySelector(".written-where")?.textContent).toContain("On ai-agent/x.");
  expect(card?.querySelector(".written-where code:last-of-type")?.textContent).toBe("git diff");
  expect(card?.querySelector("table.diff")).toBeNull();
  card?.querySelector<HTMLButtonElement>(".changed-file-fold")?.click();
  await vi.waitFor(() => expect(card?.querySelector("table.diff")).not.toBeNull());
});

it("lists a renamed file once, with the path it had", async () => {
  const sha256 = sha256Hex(before);
  const log = edited("Edit", '{"file_path":"src/a.ts"}').add("t", {
    case: "changeSetApplied",
    value: {
      changeSetId: "moved",
      files: [
        { path: "src/old.ts", operation: ChangeOperation.DELETE, beforeSha256: sha256 },
        { path: "src/new.ts", operation: ChangeOperation.CREATE, afterSha256: sha256 },
      ],
    },
  });
  const cards = [...shown(log).querySelectorAll("section.card")].map(({ textContent }) => textContent ?? "");
  expect(cards.find((text) => text.includes("src/new.ts"))).toMatch(
    /1 file changed.*renamed.*src\/new\.tsrenamed from src\/old\.ts/,
  );
});
