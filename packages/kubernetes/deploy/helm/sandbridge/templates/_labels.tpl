{{- define "sandbridge.labels" -}}
app.kubernetes.io/name: sandbridge
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
