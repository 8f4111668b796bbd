import { BranchChange, GitState } from "../../gen/gennai/agent/v1/agent_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** What git can do in a workspace. */
export const gitStateWords = new EnumWords({
  ready: GitState.READY,
  "not-installed": GitState.NOT_INSTALLED,
  "no-repository": GitState.NO_REPOSITORY,
  "not-trusted": GitState.NOT_TRUSTED,
});

/** How a branch was prepared. `kept`: it was the current branch before. */
export const branchChangeWords = new EnumWords({
  kept: BranchChange.KEPT,
  created: BranchChange.CREATED,
  switched: BranchChange.SWITCHED,
});
