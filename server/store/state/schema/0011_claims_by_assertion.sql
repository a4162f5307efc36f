-- An issuer's subject registers once, and may claim any number of anonymous registrations.
drop index registration_by_subject;
create unique index registration_by_subject on registration (iss, sub_mac, aud) where kind = 'identity_assertion';
create index registration_of_subject on registration (iss, sub_mac) where iss <> '';
