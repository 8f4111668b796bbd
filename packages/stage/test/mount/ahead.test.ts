import { testAsOneUser } from "../as-users.ts";
import { mounting } from "../scenario-files.ts";

testAsOneUser(mounting.ahead);
