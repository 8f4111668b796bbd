import { testAsOneUser } from "../stage/as-users.ts";
import { mounting } from "../stage/scenario-files.ts";

testAsOneUser(mounting.background);
