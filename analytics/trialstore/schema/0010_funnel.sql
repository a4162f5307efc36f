-- Whether the picked tool was installed, and whether the eval's command passed. Installed is null
-- where the agent does not work in a folder, builds where no command ran, and both where the
-- journal was loaded before.
alter table trial add column installed boolean;
alter table trial add column builds boolean;
