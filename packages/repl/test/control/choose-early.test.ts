// @vitest-environment happy-dom
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { EditingMode, SettingsSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { describe, expect, it, vi } from "vitest";
import { appOn, OneSession, opened } from "./one-session.ts";

/** A session that was there before. The server says nothing of it before `resumed`, and changes nothing before `changed`. */
function earlierSession() {
  const server = new OneSession();
  server.sessions = ["earlier"];
  let settings = create(SettingsSchema, { editingMode: EditingMode.BRANCH, model: "small" });
  const resumed = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  const { resumeSession, startTurn } = server.methods;
  const ranIn: EditingMode[] = [];
  Object.assign(server.methods, {
    resumeSession: async (...call: Parameters<NonNullable<typeof resumeSession>>) => {
      await resumed.promise;
      return { ...(await resumeSession?.(...call)), settings };
    },
    setSettings: async (request: { readonly settings: typeof settings }) => {
      await changed.promise;
      const { editingMode, model } = request.settings;
      settings = create(SettingsSchema, {
        editingMode: editingMode || settings.editingMode,
        model: model || settings.model,
      });
      return { settings };
    },
    startTurn: (...call: Parameters<NonNullable<typeof startTurn>>) => {
      ranIn.push(settings.editingMode);
      return startTurn?.(...call);
    },
  });
  return { server, resumed, changed, ranIn };
}

describe("what is chosen before a session is shown", () => {
  it("holds for that session, also for a prompt that was said at once", async () => {
    const { server, resumed, changed, ranIn } = earlierSession();
    const { control, shown } = appOn(server);
    expect(await control.changeSettings({ editingMode: "proposal" })).toBe(true);
    expect(await control.changeSettings({ model: "large" })).toBe(true);
    control.turns.send("propose it");
    resumed.resolve();
    changed.resolve();
    await vi.waitFor(() => expect(ranIn).toEqual([EditingMode.PROPOSAL]));
    expect(shown).toEqual(["earlier"]);
    expect(server.created).not.toHaveBeenCalled();
    expect(control.followed.value?.settings.value).toMatchObject({ editingMode: "proposal", model: "large" });
  });

  it("is told to be refused, and the session shown as it is", async () => {
    const { server, resumed } = earlierSession();
    Object.assign(server.methods, {
      setSettings: () => {
        throw new ConnectError("No Proposal Mode here.", Code.FailedPrecondition);
      },
    });
    const { control } = appOn(server);
    await control.changeSettings({ editingMode: "proposal" });
    resumed.resolve();
    await opened(control);
    expect(control.followed.value?.settings.value.editingMode).toBe("branch");
    expect(control.failure.value?.message).toContain("No Proposal Mode here.");
  });

  it("holds for a new session, where there is none", async () => {
    const server = new OneSession();
    const { control } = appOn(server);
    await control.changeSettings({ editingMode: "proposal" });
    control.turns.send("propose it");
    await vi.waitFor(() => expect(server.started).toHaveLength(1));
    expect(control.choice.value.editingMode).toBe("proposal");
  });
});

describe("a prompt after a choice", () => {
  it("waits until that is in force", async () => {
    const { server, resumed, changed, ranIn } = earlierSession();
    resumed.resolve();
    const { control } = appOn(server);
    await opened(control);
    void control.changeSettings({ editingMode: "proposal" });
    control.turns.send("propose it");
    // As long as a prompt would take that waits for nothing.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(server.started).toHaveLength(0);
    changed.resolve();
    await vi.waitFor(() => expect(ranIn).toEqual([EditingMode.PROPOSAL]));
  });

  it("is given back where the server would not have that, and said when it is sent again", async () => {
    const { server, resumed, ranIn } = earlierSession();
    resumed.resolve();
    Object.assign(server.methods, {
      setSettings: () => {
        throw new ConnectError("No Proposal Mode here.", Code.FailedPrecondition);
      },
    });
    const { control } = appOn(server);
    await opened(control);
    void control.changeSettings({ editingMode: "proposal" });
    control.turns.send("propose it");
    await vi.waitFor(() => expect(control.turns.draft.value).toBe("propose it"));
    expect(ranIn).toEqual([]);
    control.turns.send("do it all the same");
    await vi.waitFor(() => expect(ranIn).toEqual([EditingMode.BRANCH]));
  });
});
