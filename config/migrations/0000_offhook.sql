CREATE SCHEMA "offhook";
--> statement-breakpoint
CREATE TABLE "offhook"."campaigns" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"changed_by" text,
	"settings" json NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"created_by" text,
	"started_at_ms" bigint,
	"changed_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"erased_at_ms" bigint,
	"announced_at_ms" bigint,
	CONSTRAINT "campaigns_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."campaigns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."contacts" (
	"tenant_id" text NOT NULL,
	"campaign_id" text NOT NULL,
	"ordinal" bigint GENERATED ALWAYS AS IDENTITY (sequence name "offhook"."contacts_ordinal_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"state" text NOT NULL,
	"priority" smallint NOT NULL,
	"due_at_ms" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"outcomes" json NOT NULL,
	"disposition" text,
	"cause" text,
	"last_attempt_id" text,
	"call_back_at_ms" bigint,
	"message_left" boolean NOT NULL,
	"lease_owner" text,
	"carrier" text,
	"caller_id" text,
	"number_hash" text,
	"personal" "bytea",
	CONSTRAINT "contacts_tenant_id_campaign_id_ordinal_pk" PRIMARY KEY("tenant_id","campaign_id","ordinal")
);
--> statement-breakpoint
ALTER TABLE "offhook"."contacts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."paces" (
	"key" text PRIMARY KEY NOT NULL,
	"free_at_ms" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "offhook"."attempts" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"state" text NOT NULL,
	"bot_name" text NOT NULL,
	"carrier" text NOT NULL,
	"carrier_call_id" text,
	"campaign_id" text,
	"contact_id" text,
	"index" integer NOT NULL,
	"caller_id" text NOT NULL,
	"ring_timeout_ms" integer NOT NULL,
	"purpose" text,
	"profile" text NOT NULL,
	"duties" json NOT NULL,
	"decision_sequence" bigint NOT NULL,
	"place_by_ms" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"placed_at_ms" bigint,
	"ringing_at_ms" bigint,
	"answered_at_ms" bigint,
	"ended_at_ms" bigint,
	"answered_by" text,
	"disposition" text,
	"cause" text,
	"call_back_at_ms" bigint,
	"lease_owner" text,
	"lease_until_ms" bigint,
	"text_erased_at_ms" bigint,
	"number_hash" text,
	"personal" "bytea",
	CONSTRAINT "attempts_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."attempts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."consents" (
	"tenant_id" text NOT NULL,
	"reference" text NOT NULL,
	"number_hash" text,
	"id" text NOT NULL,
	"level" text NOT NULL,
	"purposes" text[] NOT NULL,
	"given_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"withdrawn_at_ms" bigint,
	"personal" "bytea",
	CONSTRAINT "consents_tenant_id_reference_pk" PRIMARY KEY("tenant_id","reference")
);
--> statement-breakpoint
ALTER TABLE "offhook"."consents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_days" (
	"tenant_id" text NOT NULL,
	"day_ms" bigint NOT NULL,
	"asker" text NOT NULL,
	"calls" integer NOT NULL,
	"cost_micros" bigint NOT NULL,
	"is_told" boolean NOT NULL,
	CONSTRAINT "dial_days_tenant_id_day_ms_asker_pk" PRIMARY KEY("tenant_id","day_ms","asker")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_days" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_decisions" (
	"tenant_id" text NOT NULL,
	"sequence" bigint NOT NULL,
	"at_ms" bigint NOT NULL,
	"body" text NOT NULL,
	"previous_hash" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "dial_decisions_tenant_id_sequence_pk" PRIMARY KEY("tenant_id","sequence")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_decisions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_heads" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_heads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_subjects" (
	"tenant_id" text NOT NULL,
	"number_hash" text NOT NULL,
	"subject" text NOT NULL,
	CONSTRAINT "dial_subjects_tenant_id_number_hash_pk" PRIMARY KEY("tenant_id","number_hash")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_subjects" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."suppression_lists" (
	"tenant_id" text NOT NULL,
	"list" text NOT NULL,
	"obtained_at_ms" bigint NOT NULL,
	CONSTRAINT "suppression_lists_tenant_id_list_pk" PRIMARY KEY("tenant_id","list")
);
--> statement-breakpoint
ALTER TABLE "offhook"."suppression_lists" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."suppressions" (
	"tenant_id" text NOT NULL,
	"number_hash" text NOT NULL,
	"list" text NOT NULL,
	"added_at_ms" bigint NOT NULL,
	"until_ms" bigint,
	"source" text NOT NULL,
	"call_id" text,
	"erased_at_ms" bigint,
	"personal" "bytea",
	CONSTRAINT "suppressions_tenant_id_number_hash_list_pk" PRIMARY KEY("tenant_id","number_hash","list")
);
--> statement-breakpoint
ALTER TABLE "offhook"."suppressions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."analyses" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"profile" text DEFAULT 'default' NOT NULL,
	"version" integer NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"disposition" text,
	"score" double precision,
	"sealed_document" "bytea",
	CONSTRAINT "analyses_tenant_id_call_id_profile_version_pk" PRIMARY KEY("tenant_id","call_id","profile","version")
);
--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."api_keys" (
	"tenant_id" text NOT NULL,
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"hash" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "offhook"."api_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."attachments" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"leg_id" text NOT NULL,
	"index" integer NOT NULL,
	"id" text NOT NULL,
	"stream_id" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"end_reason" text,
	CONSTRAINT "attachments_tenant_id_call_id_id_pk" PRIMARY KEY("tenant_id","call_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."attachments" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."call_keys" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"kind" text NOT NULL,
	"wrapped" "bytea" NOT NULL,
	CONSTRAINT "call_keys_tenant_id_call_id_kind_pk" PRIMARY KEY("tenant_id","call_id","kind")
);
--> statement-breakpoint
ALTER TABLE "offhook"."call_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."calls" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"revision" integer NOT NULL,
	"bot_name" text NOT NULL,
	"bot_version" text,
	"carrier" text NOT NULL,
	"carrier_call_id" text NOT NULL,
	"direction" text NOT NULL,
	"language" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"answered_at_ms" bigint,
	"ended_at_ms" bigint,
	"end_reason" text,
	"recording_path" text,
	"recording_sidecar_path" text,
	"recording_started_at_ms" bigint,
	"recording_object" text,
	"recording_format" text,
	"recording_wanted" text,
	"turn_count" integer NOT NULL,
	"path" text[],
	"duration_ms" bigint,
	"worst_reply_ms" bigint,
	"median_reply_ms" bigint,
	"campaign_id" text,
	"answered_by" text,
	"summary" jsonb NOT NULL,
	"disposition" text,
	"analysis_state" text DEFAULT 'none' NOT NULL,
	"legal_hold" boolean DEFAULT false NOT NULL,
	"audio_erased_at_ms" bigint,
	"text_erased_at_ms" bigint,
	"party_hash" text,
	"line_hash" text,
	"words" bigint[] DEFAULT '{}' NOT NULL,
	"analysis_words" bigint[] DEFAULT '{}' NOT NULL,
	"personal" "bytea",
	CONSTRAINT "calls_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."calls" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."erasures" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"erased_at_ms" bigint NOT NULL,
	CONSTRAINT "erasures_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."erasures" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."events" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"count" integer NOT NULL,
	"timeline" "bytea" NOT NULL,
	CONSTRAINT "events_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."events" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."idempotency_keys" (
	"tenant_id" text NOT NULL,
	"key" text NOT NULL,
	"call_id" text,
	"fingerprint" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"status" integer,
	"location" text,
	"answer" jsonb,
	CONSTRAINT "idempotency_keys_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
ALTER TABLE "offhook"."idempotency_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."legs" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"index" integer NOT NULL,
	"id" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	CONSTRAINT "legs_tenant_id_call_id_id_pk" PRIMARY KEY("tenant_id","call_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."legs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."tenant_keys" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"wrapped" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "offhook"."tenant_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."turns" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"index" integer NOT NULL,
	"input_kind" text NOT NULL,
	"interrupted" boolean NOT NULL,
	"latencies" jsonb NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"bot_started_at_ms" bigint,
	"bot_ended_at_ms" bigint,
	"personal" "bytea",
	CONSTRAINT "turns_tenant_id_call_id_index_pk" PRIMARY KEY("tenant_id","call_id","index")
);
--> statement-breakpoint
ALTER TABLE "offhook"."turns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."webhook_deliveries" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"call_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"status" integer,
	"reason" text,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "webhook_deliveries_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."webhook_deliveries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."submission_items" (
	"tenant_id" text NOT NULL,
	"submission_id" text NOT NULL,
	"index" integer NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"upload_object" text,
	"sha256" text,
	"bytes" bigint,
	"profile_key" text,
	"disposition" text,
	"score" double precision,
	"code" text,
	"reason" text,
	"personal" "bytea" NOT NULL,
	"document" "bytea",
	CONSTRAINT "submission_items_tenant_id_submission_id_index_pk" PRIMARY KEY("tenant_id","submission_id","index")
);
--> statement-breakpoint
ALTER TABLE "offhook"."submission_items" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."submissions" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"profile" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"announced_at_ms" bigint,
	"round" integer DEFAULT 0 NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"cancelled" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "submissions_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."submissions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD CONSTRAINT "analyses_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."attachments" ADD CONSTRAINT "attachments_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."events" ADD CONSTRAINT "events_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."legs" ADD CONSTRAINT "legs_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."turns" ADD CONSTRAINT "turns_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offhook"."submission_items" ADD CONSTRAINT "submission_items_tenant_id_submission_id_submissions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","submission_id") REFERENCES "offhook"."submissions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "campaigns_recent" ON "offhook"."campaigns" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "campaigns_by_state" ON "offhook"."campaigns" USING btree ("state");--> statement-breakpoint
CREATE INDEX "campaigns_unannounced" ON "offhook"."campaigns" USING btree ("changed_at_ms") WHERE state <> 'draft' AND announced_at_ms IS DISTINCT FROM changed_at_ms;--> statement-breakpoint
CREATE INDEX "campaigns_with_contacts" ON "offhook"."campaigns" USING btree ("ended_at_ms") WHERE erased_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "contacts_by_number" ON "offhook"."contacts" USING btree ("tenant_id","number_hash","campaign_id");--> statement-breakpoint
CREATE INDEX "contacts_due" ON "offhook"."contacts" USING btree ("tenant_id","campaign_id","priority","due_at_ms","ordinal") WHERE state IN ('pending', 'waiting');--> statement-breakpoint
CREATE INDEX "contacts_leased" ON "offhook"."contacts" USING btree ("due_at_ms") WHERE state = 'leased';--> statement-breakpoint
CREATE INDEX "attempts_recent" ON "offhook"."attempts" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "attempts_of_number" ON "offhook"."attempts" USING btree ("tenant_id","number_hash","created_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "attempts_of_campaign" ON "offhook"."attempts" USING btree ("tenant_id","campaign_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_once" ON "offhook"."attempts" USING btree ("tenant_id","contact_id","index") WHERE contact_id IS NOT NULL AND disposition IS DISTINCT FROM 'refused';--> statement-breakpoint
CREATE INDEX "attempts_ended" ON "offhook"."attempts" USING btree ("tenant_id","campaign_id","ended_at_ms","disposition") WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_placed" ON "offhook"."attempts" USING btree ("tenant_id","campaign_id","placed_at_ms") WHERE campaign_id IS NOT NULL AND placed_at_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_of_contact" ON "offhook"."attempts" USING btree ("tenant_id","contact_id") WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_by_carrier_id" ON "offhook"."attempts" USING btree ("tenant_id","carrier","carrier_call_id") WHERE carrier_call_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_live" ON "offhook"."attempts" USING btree ("lease_owner","lease_until_ms") WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX "attempts_with_text" ON "offhook"."attempts" USING btree ("bot_name","ended_at_ms") WHERE text_erased_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "consents_of_number" ON "offhook"."consents" USING btree ("tenant_id","number_hash","id");--> statement-breakpoint
CREATE INDEX "consents_by_time" ON "offhook"."consents" USING btree ("tenant_id","given_at_ms","reference");--> statement-breakpoint
CREATE INDEX "suppressions_by_time" ON "offhook"."suppressions" USING btree ("tenant_id","added_at_ms","number_hash","list");--> statement-breakpoint
CREATE INDEX "suppressions_of_list" ON "offhook"."suppressions" USING btree ("tenant_id","list","added_at_ms","number_hash");--> statement-breakpoint
CREATE INDEX "analyses_recent" ON "offhook"."analyses" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"call_id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_recent" ON "offhook"."calls" USING btree ("tenant_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_carrier_id" ON "offhook"."calls" USING btree ("tenant_id","carrier","carrier_call_id");--> statement-breakpoint
CREATE INDEX "calls_by_bot" ON "offhook"."calls" USING btree ("tenant_id","bot_name","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_disposition" ON "offhook"."calls" USING btree ("tenant_id","disposition","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_party" ON "offhook"."calls" USING btree ("tenant_id","party_hash","started_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_line" ON "offhook"."calls" USING btree ("tenant_id","line_hash","started_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_end_reason" ON "offhook"."calls" USING btree ("tenant_id","end_reason","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_campaign" ON "offhook"."calls" USING btree ("tenant_id","campaign_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_answered_by" ON "offhook"."calls" USING btree ("tenant_id","answered_by","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE answered_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_reply" ON "offhook"."calls" USING btree ("tenant_id","worst_reply_ms") WHERE worst_reply_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_duration" ON "offhook"."calls" USING btree ("tenant_id","duration_ms");--> statement-breakpoint
CREATE INDEX "calls_by_words" ON "offhook"."calls" USING gin ("words");--> statement-breakpoint
CREATE INDEX "calls_by_analysis_words" ON "offhook"."calls" USING gin ("analysis_words");--> statement-breakpoint
CREATE INDEX "calls_to_analyse" ON "offhook"."calls" USING btree ("ended_at_ms") WHERE analysis_state = 'pending';--> statement-breakpoint
CREATE INDEX "calls_to_compress" ON "offhook"."calls" USING btree ("ended_at_ms") WHERE recording_wanted IS NOT NULL AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "calls_with_audio" ON "offhook"."calls" USING btree ("bot_name","ended_at_ms") WHERE audio_erased_at_ms IS NULL AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "calls_with_text" ON "offhook"."calls" USING btree ("bot_name","ended_at_ms") WHERE text_erased_at_ms IS NULL AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "idempotency_keys_old" ON "offhook"."idempotency_keys" USING btree ("created_at_ms");--> statement-breakpoint
CREATE INDEX "idempotency_keys_call" ON "offhook"."idempotency_keys" USING btree ("tenant_id","call_id") WHERE call_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_recent" ON "offhook"."webhook_deliveries" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_call" ON "offhook"."webhook_deliveries" USING btree ("tenant_id","call_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "offhook"."webhook_deliveries" USING btree ("updated_at_ms") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "submission_items_by_content" ON "offhook"."submission_items" USING btree ("tenant_id","sha256","profile_key") WHERE state = 'done';--> statement-breakpoint
CREATE INDEX "submission_items_open" ON "offhook"."submission_items" USING btree ("updated_at_ms") WHERE state IN ('queued', 'running');--> statement-breakpoint
CREATE INDEX "submission_items_left" ON "offhook"."submission_items" USING btree ("updated_at_ms") WHERE state = 'done' AND upload_object IS NOT NULL;--> statement-breakpoint
CREATE INDEX "submissions_recent" ON "offhook"."submissions" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "submissions_unannounced" ON "offhook"."submissions" USING btree ("ended_at_ms") WHERE announced_at_ms IS NULL;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."campaigns" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."contacts" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."attempts" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."consents" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_days" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_decisions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_heads" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_subjects" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."suppression_lists" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."suppressions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."analyses" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."api_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."attachments" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."call_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."calls" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."erasures" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."events" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."idempotency_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."legs" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."tenant_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."turns" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."webhook_deliveries" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."submission_items" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."submissions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
-- The role under which one tenant's rows are read and written. Who may not make roles goes without it (docs/operating.md).
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		CREATE ROLE offhook_tenant NOLOGIN;
	END IF;
	EXECUTE format('GRANT offhook_tenant TO %I', current_user);
EXCEPTION
	-- Another database of the same server is being migrated, or this user makes no roles.
	WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
END
$$;--> statement-breakpoint
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		GRANT USAGE ON SCHEMA "offhook" TO offhook_tenant;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "offhook" TO offhook_tenant;
		ALTER DEFAULT PRIVILEGES IN SCHEMA "offhook" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO offhook_tenant;
	END IF;
END
$$;--> statement-breakpoint
-- The log of decisions only grows: the tenants' role may neither change nor delete an entry.
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		REVOKE UPDATE, DELETE, TRUNCATE ON "offhook"."dial_decisions" FROM offhook_tenant;
	END IF;
END
$$;
