import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CheckpointKind,
  ListCheckpointsResponseSchema,
  type RestoreCheckpointRequestSchema,
  RestoreCheckpointResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ChangeOperation, SkipReason } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { CheckpointStore } from "#timeline/checkpoint-store";

type Request = MessageInitShape<typeof RestoreCheckpointRequestSchema>;

function store(options: { readonly fails?: boolean } = {}) {
  const asked: Request[] = [];
  const client = {
    listCheckpoints: async () =>
      create(ListCheckpointsResponseSchema, {
        checkpoints: [{ checkpointId: "t1", kind: CheckpointKind.TURN, turnNumber: 1, title: "go", kept: true }],
      }),
    restoreCheckpoint: async (request: Request) => {
      asked.push(request);
      if (options.fails === true) throw new Error("no disk");
      const isForced = request.force === true;
      return create(RestoreCheckpointResponseSchema, {
        restoreId: request.dryRun === true ? "" : `r-${asked.length}`,
        files: [{ path: isForced ? "b.ts" : "a.ts", operation: ChangeOperation.UPDATE }],
        skipped: isForced ? [] : [{ path: "b.ts", reason: SkipReason.CHANGED_SINCE }],
      });
    },
  };
  return { asked, store: new CheckpointStore(client, "s") };
}

test("a restore is previewed, then done, with the files a person chose to overwrite", async () => {
  const { asked, store: held } = store();
  using checkpoints = held;
  await checkpoints.load();
  expect(checkpoints.state.value.list?.checkpoints).toMatchObject([
    { checkpointId: "t1", kind: "turn", turnNumber: 1 },
  ]);
  await checkpoints.preview("t1");
  expect(checkpoints.state.value.preview).toMatchObject({
    checkpointId: "t1",
    files: [{ path: "a.ts", operation: "update" }],
    skipped: [{ path: "b.ts", reason: "changed_since" }],
  });
  await checkpoints.restore("t1", ["b.ts"]);
  expect(checkpoints.state.value).toMatchObject({ preview: undefined, busy: false });
  expect(checkpoints.state.value.done).toMatchObject({ files: [{ path: "a.ts" }, { path: "b.ts" }], skipped: [] });
  expect(asked).toMatchObject([
    { dryRun: true, force: false },
    { dryRun: false, paths: [], force: false },
    { dryRun: false, paths: ["b.ts"], force: true },
  ]);
});

test("what fails is said, and can be dismissed", async () => {
  const { store: held } = store({ fails: true });
  using checkpoints = held;
  await checkpoints.preview("t1");
  expect(checkpoints.state.value).toMatchObject({
    busy: false,
    problem: { message: "no disk", action: "Preview a restore" },
  });
  checkpoints.dismiss();
  expect(checkpoints.state.value.problem).toBeUndefined();
});
