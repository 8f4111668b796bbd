import { testAsUsers } from "../as-users.ts";
import { committing, observing } from "../scenario-files.ts";

for (const file of Object.values({ ...observing, ...committing }))
  testAsUsers(file, { stagedBy: "copy", isLong: true });
