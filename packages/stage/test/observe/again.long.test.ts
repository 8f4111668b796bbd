import { testAsUsers } from "../as-users.ts";
import { beside, observing } from "../scenario-files.ts";

for (const file of [beside, ...Object.values(observing)])
  testAsUsers(file, { stagedBy: "overlay again", isLong: true });
