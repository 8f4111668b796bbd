import { type Checks, notApplicable } from "../../corpus-case.ts";

const editor = notApplicable(
  "Settings and addresses of the editor are read by its extension, whose own tests hold it.",
);

export const configChecks: Checks = {
  "CFG-028": editor,
  "CFG-029": notApplicable("No setting of a workspace turns rules or hooks off: the key does not exist."),
  "CFG-031": editor,
  "CFG-038": editor,
};
