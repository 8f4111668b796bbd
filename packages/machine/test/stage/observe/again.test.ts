import { testAsOneUser, testAsUsers } from "../as-users.ts";
import { beside, observing } from "../scenario-files.ts";

testAsUsers(beside, { stagedBy: "overlay again" });

// What commands do is found as ever where something runs beside them.
for (const file of Object.values(observing)) testAsOneUser(file, { stagedBy: "overlay again", oneOf: 4 });
