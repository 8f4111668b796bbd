import { testAsUsers } from "./as-users.ts";
import { committing, mounting, observing } from "./scenario-files.ts";

for (const file of Object.values({ ...observing, ...committing, ...mounting })) testAsUsers(file, { isLong: true });
