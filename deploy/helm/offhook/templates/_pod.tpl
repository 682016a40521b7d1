{{- define "offhook.labels" -}}
{{ include "offhook.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "offhook.selector" -}}
app.kubernetes.io/name: offhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "offhook.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}

{{- define "offhook.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "offhook.environment" -}}
- name: OFFHOOK_PUBLIC_URL
  value: {{ required "publicUrl is required: the https address at which carriers reach the gateways" .Values.publicUrl | quote }}
{{- if .Values.bots.configMap }}
- name: OFFHOOK_BOTS__FOLDER
  value: /etc/offhook/bots
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $reference := .Values.secrets }}
- name: {{ $name }}_FILE
  value: /run/secrets/offhook/{{ $name }}
{{- end }}
{{- end -}}

{{- define "offhook.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /data
- name: secrets
  mountPath: /run/secrets/offhook
  readOnly: true
{{- if .Values.bots.configMap }}
- name: bots
  mountPath: /etc/offhook/bots
  readOnly: true
{{- end }}
{{- end -}}

{{- define "offhook.volumes" -}}
- name: tmp
  emptyDir: {}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
{{- range $name, $reference := .Values.secrets }}
      - secret:
          name: {{ $reference.secret }}
          items:
            - key: {{ $reference.key }}
              path: {{ $name }}
{{- end }}
{{- if .Values.bots.configMap }}
- name: bots
  configMap:
    name: {{ .Values.bots.configMap }}
{{- end }}
{{- end -}}

{{- define "offhook.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "offhook.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "offhook.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
