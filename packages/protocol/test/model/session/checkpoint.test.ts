import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CheckpointSchema } from "#gen/gennai/agent/v1/agent_pb";
import { type Checkpoint, checkpointFromMessage, checkpointToMessage, notesOf } from "#model/session/checkpoint";

const checkpoint: Checkpoint = {
  checkpointId: "turn-1",
  kind: "turn",
  turnNumber: 1,
  turnId: "turn-1",
  time: 1_700_000_000_000,
  title: "rename it",
  files: [],
  moreFiles: 2,
  kept: true,
};

test.each([
  [checkpoint, []],
  [{ ...checkpoint, kept: false }, ["no longer kept"]],
])("%j crosses the wire, and its notes are %j", (sent, notes) => {
  // What a server knows of it besides stays there.
  const known = { ...sent, fromSeq: 7 };
  const received = checkpointFromMessage(create(CheckpointSchema, checkpointToMessage(known)));
  expect(received).toEqual(sent);
  expect(notesOf(received)).toEqual(notes);
});
