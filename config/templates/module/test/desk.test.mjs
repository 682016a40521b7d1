// Talks to the bot in text, without audio. Run: node --test test/
import assert from 'node:assert/strict';
import test from 'node:test';
import { rehearse } from 'offhook/bot';

test('it books a time', async () => {
  const call = await rehearse('desk');
  assert.match(call.greeting.text, /At what time/);
  assert.match((await call.say('well')).text, /for example/);
  await call.say('half past ten');
  assert.deepEqual(call.variables, { time: '10:30' });
  assert.equal(call.ended, 'booked');
  await call.close();
});
