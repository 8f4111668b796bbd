import { IntentsMode as IntentsModeMessage } from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** Whether intents are enforced in a workspace. `auto`: on where it has an intents file, and from then on. */
export const intentsModeWords = new EnumWords({
  auto: IntentsModeMessage.AUTO,
  required: IntentsModeMessage.REQUIRED,
  off: IntentsModeMessage.OFF,
});

export type IntentsMode = (typeof intentsModeWords.words)[number];
