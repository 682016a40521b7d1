// Talks to the bot in text, without audio. Run: node --test test/
import assert from 'node:assert/strict';
import test from 'node:test';
import { rehearse } from 'offhook/bot';

test('it tells the opening hours', async () => {
  const call = await rehearse('desk');
  assert.match(call.greeting.text, /front desk/);
  assert.match((await call.say('when are you open')).text, /from nine to five/);
  assert.equal(call.ended, 'finished');
  await call.close();
});

test('it books an appointment', async () => {
  const call = await rehearse('desk');
  await call.say("I'd like an appointment");
  await call.say('Tuesday');
  assert.match((await call.say('half past ten')).text, /Is that right\?/);
  assert.match((await call.say('yes')).text, /You are booked/);
  assert.deepEqual(call.notes, ['Appointment agreed.']);
  await call.close();
});
