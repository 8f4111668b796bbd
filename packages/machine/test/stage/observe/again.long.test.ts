import { testAsUsers } from "../as-users.ts";
import { observing } from "../scenario-files.ts";

for (const file of Object.values(observing)) testAsUsers(file, { stagedBy: "overlay again", isLong: true });
