import { testAsOneUser } from "../as-users.ts";
import { committing } from "../scenario-files.ts";

testAsOneUser(committing.kill);
