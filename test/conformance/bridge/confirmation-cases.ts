import assert from "node:assert/strict";
import { sha256Hex } from "@gennai/protocol/digest";
import { ConfirmationAnswer, ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { BridgeCase, SceneTools } from "./bridge-scene.ts";

/** Scenes answer every question with yes, once. */
const ask = (at: SceneTools, actionSha256: string) =>
  at.answer("confirmationResponse", {
    case: "confirmationRequest",
    value: { requestId: "q", actionJson, actionSha256, offeredScopes: [ConfirmationScope.ONCE] },
  });

const actionJson = '{"command":"rm -r build"}';

export const confirmationCases: readonly BridgeCase[] = [
  {
    name: "a yes names the action it is for",
    ability: "confirm",
    async check(at) {
      const answer = await ask(at, sha256Hex(actionJson));
      assert.equal(answer.answer, ConfirmationAnswer.YES);
      assert.equal(answer.actionSha256, sha256Hex(actionJson));
    },
  },
  {
    name: "an action that is not the one of the digest is not asked about",
    ability: "confirm",
    async check(at) {
      const answer = await ask(at, sha256Hex("another"));
      assert.notEqual(answer.answer, ConfirmationAnswer.YES);
    },
  },
];
