"""Pictures with classes or boxes: folders of files to TFRecords, and back.

image_folder   a folder for each class, or a CSV of classes
coco           one JSON with boxes
coco_masks     segmentations of COCO as PNG, and back
voc            an XML with boxes for each picture
yolo           a text file with boxes for each picture
class_names    the classes of YOLO: data.yaml, classes.txt
boxes_csv      the CSV of generate_tfrecord.py
picture        ``Picture`` and ``Box``, the form between any two formats
annotation_text  text files and CSV, as far as they are such
picture_files  the pictures in folders, found by the names in annotations
label_map      the classes and their numbers
source         what a reader has found, and the way that all readers share from there
loading        pictures read, checked and encoded, in batches and in threads
stored         the pictures in TFRecords
roles          which features hold them, their classes and boxes
written        what all formats that are written share
new_files      files under names that come from data
tfds_folder    what tensorflow-datasets needs beside its shards
styles         the conventions: which features hold what
"""
